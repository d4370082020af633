import type { NetworkDatabase } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

/** Proved blocks whose hash needed the same header fields that no table names. */
export interface UnknownFields {
  fields: readonly string[];
  /** The first of them. */
  number: number;
  blocks: number;
}

/** The alarm about blocks that were published with header fields that no table names. */
const FIELDS_ALARM: AlarmName = 'FIELDS_UNKNOWN';
/** Most sets of fields that are named for a network: their names are the nodes'. */
const MAX_SETS = 32;

/** Adds a proved block to a list of unknown fields. */
export function addUnknownFields(found: UnknownFields[], number: number, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const known = found.find((each) => each.fields.join() === fields.join());
  if (known === undefined) found.push({ fields, number, blocks: 1 });
  else known.blocks += 1;
}

/** Counts these blocks, and logs and raises an alarm for each set of fields (32 at most) that was not seen before. */
export async function noteUnknownFields(
  { context, database, network }: { context: Context; database: NetworkDatabase; network: string },
  found: readonly UnknownFields[],
): Promise<void> {
  if (found.length === 0) return;
  const help = 'Blocks proved with header fields that no table names';
  const blocks = found.reduce((sum, each) => sum + each.blocks, 0);
  context.metrics.count('packhouse_unknown_fields_total', help, { network }, blocks);
  const alarms = (await database.alarms.list({ cleared: true })).filter(({ name }) => name === FIELDS_ALARM);
  const named = alarms.flatMap(({ data }) => (Array.isArray(data.sets) ? (data.sets as string[]) : []));
  const fresh = found
    .filter(({ fields }) => !named.includes(fields.join(' ')))
    .slice(0, Math.max(0, MAX_SETS - named.length));
  for (const { fields, number } of fresh) {
    const names = fields.join(', ');
    const facts = { network, block: number, fields };
    context.logger.warn(facts, 'header fields are new to this version; the hash proves them');
    await database.alarms.raise({
      name: FIELDS_ALARM,
      message: `From block ${number} on headers have fields that are new to this version (${names}). Their hash proves them, and the blocks are published; what else the fork changed is not checked. Update Packhouse.`,
      data: { sets: [...named, ...fresh.map((each) => each.fields.join(' '))], from: number },
    });
  }
}
