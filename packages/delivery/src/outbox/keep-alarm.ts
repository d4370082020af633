import type { Database } from '@packhouse/database';
import type { AlarmName } from '@packhouse/pipeline';

/** Keeps an alarm about receivers open in exactly these networks. */
export async function keepAlarm(
  database: Pick<Database, 'alarms' | 'network'>,
  name: AlarmName,
  wanted: ReadonlyMap<string, { message: string; data: Record<string, unknown> }>,
): Promise<void> {
  for (const open of await database.alarms.list()) {
    if (open.name !== name || wanted.has(open.network)) continue;
    await database.network(open.network).alarms.clear(name, 'itself');
  }
  for (const [network, alarm] of wanted) await database.network(network).alarms.raise({ name, ...alarm });
}
