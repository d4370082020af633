import type { BlockRange } from '@packhouse/chain';
import type { Database, StagedBlock } from '@packhouse/database';
import type { BlockSource } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';

export interface ReorganiseParts {
  context: Context;
  database: Database;
  source: BlockSource;
  network: string;
}

/**
 * Drops the staged blocks that the chain has abandoned, from the first one behind the common ancestor up.
 *
 * Looks at the staged blocks within `range` and, where the lowest of them is abandoned, further down to the
 * ancestor. Published blocks are never touched: staging refuses to abandon them.
 */
export async function dropAbandoned(
  { context, database, source, network }: ReorganiseParts,
  range: BlockRange,
  signal: AbortSignal,
): Promise<{ abandoned: number; from: number | null }> {
  const staged = await database.staging.blocks(network, range);
  let lowest: StagedBlock | undefined;
  for (const block of staged) {
    if (await isAbandoned(source, block, signal)) {
      lowest = block;
      break;
    }
  }
  if (lowest === undefined) return { abandoned: 0, from: null };
  for (let number = lowest.number - 1; number >= 0; number--) {
    const [below] = await database.staging.blocks(network, { start: number, end: number });
    if (below === undefined || !(await isAbandoned(source, below, signal))) break;
    lowest = below;
  }
  const { abandoned } = await database.staging.abandon(network, lowest.number);
  context.logger.warn({ network, from: lowest.number, abandoned }, 'reorganisation: staged blocks dropped');
  context.metrics
    .counter('packhouse_reorganisations_total', 'Reorganisations met by the follower', ['network'])
    .inc({ network });
  return { abandoned, from: lowest.number };
}

/** Whether the chain has another block under this number now. */
export async function isAbandoned(
  source: BlockSource,
  block: StagedBlock,
  signal: AbortSignal,
): Promise<boolean> {
  const canonical = await source.blockHash(block.number, signal);
  // null: the node has no such block yet or any more; that alone is lagging, not a reorganisation.
  return canonical !== null && canonical !== block.hash;
}
