import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { flagField, networkField } from './fields.js';
import { noteChange } from './note-change.js';
import { operation } from './operation.js';

export const listAlarms = operation({
  name: 'alarms',
  kind: 'read',
  role: 'viewer',
  summary: 'The open alarms, newest first; with `cleared` also past ones.',
  input: z.object({ network: networkField.optional(), cleared: flagField.optional() }),
  run: ({ database }, { network, cleared = false }) =>
    (network === undefined ? database : database.network(network)).alarms.list({ cleared }),
});

export const clearAlarm = operation({
  name: 'alarms/clear',
  kind: 'change',
  role: 'operator',
  summary: 'Clears an alarm: what it stopped continues with the present state.',
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
    throw new PackhouseError({
      code: 'ALARM_UNKNOWN',
      message: `No alarm "${name}" is open for network "${network}".`,
      hint: names.length === 0 ? 'None is open at all.' : `Open are: ${names.join(', ')}.`,
    });
  },
});
