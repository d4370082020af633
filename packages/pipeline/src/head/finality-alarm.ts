import type { AlarmRow, NetworkDatabase } from '@packhouse/database';
import type { BlockAnchor } from '@packhouse/node-rpc';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

/** The alarm of a network whose chain has another block in place of one that is final or published. */
export const FINALITY_ALARM: AlarmName = 'REORG_BELOW_FINALITY';

interface FinalityParts {
  context: Context;
  database: NetworkDatabase;
  network: string;
}

/** The open alarm of this network, if there is one. */
export async function openFinalityAlarm(parts: { database: NetworkDatabase }): Promise<AlarmRow | null> {
  const open = await parts.database.alarms.list();
  return open.find((alarm) => alarm.name === FINALITY_ALARM) ?? null;
}

/** Raises the alarm, and logs it the first time. `error` is a REORG_BELOW_FINALITY. */
export async function raiseFinalityAlarm(
  { context, database, network }: FinalityParts,
  error: PackhouseError,
): Promise<AlarmRow> {
  const { alarm, isNew } = await database.alarms.raise({
    name: FINALITY_ALARM,
    message: error.message,
    data: { ...error.data },
  });
  if (isNew) {
    context.logger.fatal(
      { network, alarm: FINALITY_ALARM, err: error },
      'ALARM: the chain differs below finality; nothing is staged at the head of this network',
    );
  }
  return alarm;
}

/** The block that the chain must have again before the alarm ends by itself. */
export function alarmAnchor(alarm: AlarmRow): BlockAnchor | null {
  const { number, expected } = alarm.data;
  return typeof number === 'number' && typeof expected === 'string' ? { number, hash: expected } : null;
}

/** The error for which an alarm was raised. */
export function alarmError(alarm: AlarmRow): PackhouseError {
  return new PackhouseError({
    code: 'REORG_BELOW_FINALITY',
    message: alarm.message,
    hint: 'See `packhouse alarms list`.',
    data: alarm.data,
  });
}

/**
 * Whether an operator cleared the alarm about this same difference, which means: accept what the chain has now. Only
 * the newest past alarm counts, and not if it ended by itself.
 */
export async function isAccepted({ database }: FinalityParts, error: PackhouseError): Promise<boolean> {
  const past = await database.alarms.list({ cleared: true });
  const last = past.find((alarm) => alarm.name === FINALITY_ALARM);
  return (
    last?.clearedBy === 'operator' &&
    last.data.number === error.data.number &&
    last.data.expected === error.data.expected &&
    last.data.got === error.data.got
  );
}

/** Whether an error says that the chain differs below finality. */
export function isBelowFinality(error: unknown): error is PackhouseError {
  return isPackhouseError(error, 'REORG_BELOW_FINALITY');
}
