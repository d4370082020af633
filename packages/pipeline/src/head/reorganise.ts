import type { BlockRange } from '@packhouse/chain';
import type { NetworkDatabase, StagedBlock } from '@packhouse/database';
import type { BlockAnchor, BlockHeader, BlockSource, ChainHead } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';

/** What looks at the chain and changes what is staged of it. */
export interface ChainParts {
  context: Context;
  database: NetworkDatabase;
  source: BlockSource;
  network: string;
}

/** Staged blocks this near to the head are compared only if parent links lead from it to them. */
const LINK_BLOCKS = 1_024;
/** Headers that are asked for together on the way down to the common ancestor. */
const DOWN_BLOCKS = 256;

type Comparison =
  | { is: 'same' }
  /** From this block up they were abandoned. */
  | { is: 'abandoned'; from: number }
  /** The answers do not belong together (several nodes behind one address, or the chain moved meanwhile). */
  | { is: 'unclear' };

/**
 * Compares what is staged from `floor` up with the chain that ends in `head`.
 *
 * Of each linked run the highest block is compared: those below it are right if it is. The head's upstream is asked for
 * all headers between in one request. They count only if their parent links lead from the head to that block, so that
 * nothing is abandoned if one answer comes from a node ahead and the next from one behind. A chain that is only shorter
 * than the staged blocks lags. One that does not follow `below`, the final block under the floor, is no reorganisation:
 * the next poll decides.
 */
export async function compareStaged(
  parts: ChainParts,
  { head, floor, below }: { head: ChainHead; floor: number; below: BlockAnchor | null },
  signal: AbortSignal,
): Promise<Comparison> {
  const range = { firstBlock: Math.max(0, floor), lastBlock: head.number };
  if (range.lastBlock < range.firstBlock) return { is: 'same' };
  const runs = linkedRuns(await parts.database.staging.blocks(range));
  const tops = runs.map((run) => run.at(-1) as StagedBlock).filter((top) => !follows(top, head));
  const [lowest] = tops;
  if (lowest === undefined) return { is: 'same' };

  const linkFrom = Math.max(lowest.number, head.number - LINK_BLOCKS);
  const numbers = tops.map((top) => top.number).filter((number) => number < linkFrom);
  for (let number = linkFrom; number < head.number; number += 1) numbers.push(number);
  const chain = await askChain(parts, numbers, head, signal);
  if (!isLinked(chain, linkFrom, head)) return { is: 'unclear' };
  chain.set(head.number, head);

  for (const run of runs) {
    const top = run.at(-1) as StagedBlock;
    const header = chain.get(top.number);
    if (!tops.includes(top) || header?.hash === top.hash) continue;
    if (header === undefined) return { is: 'unclear' };
    const from = await lowestAbandoned(parts, { run, top: header, head, below }, signal);
    return from === null ? { is: 'unclear' } : { is: 'abandoned', from };
  }
  return { is: 'same' };
}

const DEPTHS = [1, 2, 3, 5, 8, 16, 32, 64, 128] as const;

/** Drops what is staged from a block up, in one transaction, and records it as abandoned. */
export async function dropAbandoned(parts: ChainParts, from: number): Promise<number> {
  const { context, database, network } = parts;
  const { abandoned } = await database.staging.abandon(from);
  context.logger.warn({ network, from, abandoned }, 'reorganisation: staged blocks dropped');
  context.metrics.count('packhouse_reorganisations_total', 'Reorganisations met by the follower', {
    network,
  });
  context.metrics.count(
    'packhouse_abandoned_blocks_total',
    'Staged blocks that reorganisations removed',
    { network },
    abandoned,
  );
  context.metrics
    .histogram(
      'packhouse_reorganisation_depth_blocks',
      'Staged blocks that one reorganisation removed',
      ['network'],
      DEPTHS,
    )
    .observe({ network }, abandoned);
  return abandoned;
}

/**
 * For proved blocks that do not fit their staged neighbours: drops the staged blocks from `floor` up that the chain has
 * abandoned. Returns false, and changes nothing, if the chain does not confirm the proved ones.
 */
export async function dropConflicting(
  parts: ChainParts,
  proved: readonly StagedBlock[],
  floor: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = parts;
  const [first, last] = [proved[0], proved.at(-1)];
  if (first === undefined || last === undefined) return false;
  const around: BlockRange = { firstBlock: Math.max(0, floor, first.number - 1), lastBlock: last.number + 1 };
  const staged = await database.staging.blocks(around);
  const numbers = [...new Set([...staged, ...proved].map((block) => block.number))].sort((a, b) => a - b);
  const chain = await askChain(parts, numbers, null, signal);
  if (!proved.every((block) => chain.get(block.number)?.hash === block.hash)) return false;
  const wrong = staged.find((block) => (chain.get(block.number)?.hash ?? block.hash) !== block.hash);
  if (wrong === undefined) return false;
  const below = { firstBlock: Math.max(0, floor, wrong.number - LINK_BLOCKS), lastBlock: wrong.number };
  const run = linkedRuns(await database.staging.blocks(below)).at(-1);
  const header = chain.get(wrong.number);
  if (run === undefined || header === undefined) return false;
  const anchor = await database.head.anchor();
  const from = await lowestAbandoned(parts, { run, top: header, head: null, below: anchor }, signal);
  if (from === null) return false;
  await dropAbandoned(parts, from);
  return true;
}

/** The lowest block of a run that the chain does not have, searched from its highest down; null if it is unclear. */
async function lowestAbandoned(
  parts: ChainParts,
  from: { run: readonly StagedBlock[]; top: BlockHeader; head: ChainHead | null; below: BlockAnchor | null },
  signal: AbortSignal,
): Promise<number | null> {
  const { run, top, head, below } = from;
  let lowest = top.number;
  let expected = top.parentHash;
  for (let end = run.length - 1; end > 0; ) {
    const piece = run.slice(Math.max(0, end - DOWN_BLOCKS), end);
    const numbers = piece.map((block) => block.number);
    const chain = await askChain(parts, numbers, head, signal);
    for (const block of [...piece].reverse()) {
      const header = chain.get(block.number);
      if (header === undefined || header.hash !== expected) return null;
      if (header.hash === block.hash) return lowest;
      lowest = block.number;
      expected = header.parentHash;
    }
    end -= piece.length;
  }
  return below?.number === lowest - 1 && below.hash !== expected ? null : lowest;
}

async function askChain(
  { source }: ChainParts,
  numbers: readonly number[],
  head: ChainHead | null,
  signal: AbortSignal,
): Promise<Map<number, BlockHeader>> {
  const from = head === null ? {} : { from: head.upstream };
  const headers = await source.headers(numbers, { ...from, signal });
  return new Map(headers.flatMap((header) => (header === null ? [] : [[header.number, header] as const])));
}

/** Whether parent links lead from the head down to `from`. */
function isLinked(chain: ReadonlyMap<number, BlockHeader>, from: number, head: ChainHead): boolean {
  let expected = head.parentHash;
  for (let number = head.number - 1; number >= from; number -= 1) {
    const header = chain.get(number);
    if (header === undefined || header.hash !== expected) return false;
    expected = header.parentHash;
  }
  return true;
}

/** Whether the head itself shows that this block is on its chain. */
function follows(top: StagedBlock, head: ChainHead): boolean {
  if (top.number === head.number) return top.hash === head.hash;
  return top.number === head.number - 1 && top.hash === head.parentHash;
}

/** Ascending blocks, split before each that does not follow the one before. */
function linkedRuns(blocks: readonly StagedBlock[]): StagedBlock[][] {
  const runs: StagedBlock[][] = [];
  for (const block of blocks) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last?.number === block.number - 1 && last.hash === block.parentHash)
      run.push(block);
    else runs.push([block]);
  }
  return runs;
}
