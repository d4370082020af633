import type { AlarmRow } from '@packhouse/database';
import { getAlarmEnd } from '@packhouse/pipeline';
import { z } from 'zod';
import { fail } from './operation/fail.js';
import { flagField, networkField } from './operation/fields.js';
import { noteChange } from './operation/note-change.js';
import { change, read } from './operation/operation.js';

export const listAlarms = read({
  name: 'alarms',
  role: 'viewer',
  sharedForMs: 1_000,
  summary:
    'The open alarms, newest first, with how each ends (by `itself`, or an `operator` clears it); with `cleared` also the cleared ones.',
  input: z.object({ network: networkField.optional(), cleared: flagField.optional() }),
  run: async (
    { database },
    { network, cleared = false },
  ): Promise<(AlarmRow & { ends: ReturnType<typeof getAlarmEnd> })[]> => {
    const rows = await (network === undefined ? database : database.network(network)).alarms.list({
      cleared,
    });
    return rows.map((row) => ({ ...row, ends: getAlarmEnd(row.name) }));
  },
});

export const clearAlarm = change({
  name: 'alarms/clear',
  role: 'operator',
  summary: 'Clears an alarm: what it stopped resumes.',
  input: z.object({
    network: networkField,
    name: z.string().min(1).max(64).describe('its name, e.g. REORG_BELOW_FINALITY'),
  }),
  run: async (parts, { network, name }) => {
    const { database } = parts;
    const row = await database.network(network).alarms.clear(name, 'operator');
    if (row !== null) {
      await noteChange(parts, `alarm ${network} ${name}`, 'clear', { message: row.message }, null);
      return row;
    }
    const names = (await database.alarms.list()).map((each) => `${each.network} ${each.name}`);
    fail(
      'ALARM_UNKNOWN',
      `No open alarm "${name}" of network "${network}".`,
      names.length === 0 ? 'No alarm is open.' : `Open alarms: ${names.join(', ')}.`,
    );
  },
});
