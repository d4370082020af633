import {
  type BlockRange,
  countBlocks,
  intersectRanges,
  type Kind,
  subtractRanges,
  unionRanges,
} from '@packhouse/chain';
import type { Database, NetworkDatabase } from '@packhouse/database';
import type { NetworkStatus } from '@packhouse/report';
import { describeError, PackhouseError } from '@packhouse/runtime';
import { formatCount, formatRange, toPublicRange } from '../terminal/format.js';
import type { LocalRun } from './local-run.js';
import type { ReadyNetwork } from './preflight.js';
import type { Reporter } from './report.js';

/** Missing blocks whose reason is printed. */
const EXPLAINED = 20;
/** How often `Waiting for block …` is repeated, in milliseconds. */
const REPEAT_MS = 60_000;

/**
 * Whether the range of `--once` is done: every block of every kind is published, or quarantined after its tries.
 * Reports the end, with the missing parts; the exit code is then that of RANGE_INCOMPLETE. `lastPoll` reports what was
 * published since the last poll.
 */
export async function finishOnce(
  { io, context, reporter }: LocalRun,
  database: Database,
  node: ReadyNetwork,
  { startedAt, lastPoll }: { startedAt: number; lastPoll: () => Promise<void> },
): Promise<boolean> {
  const rows = database.network(node.network.id);
  const range = { firstBlock: node.from, lastBlock: node.to as number };
  const { settled, quarantined } = await isSettled(rows, node.kinds, range, Date.now());
  if (!settled) return false;
  await lastPoll();
  const seconds = (context.clock.elapsed() - startedAt) / 1000;
  const totals = await Promise.all(node.kinds.map((kind) => rows.bundles.totals(kind)));
  const bytes = totals.reduce((sum, total) => sum + total.bytes, 0);
  const blocks = countBlocks([range]) - countBlocks(quarantined);
  const done = `Done: ${blocks} blocks published in ${seconds.toFixed(1)} s.`;
  if (quarantined.length === 0) {
    reporter.event({ event: 'done', blocks, seconds, bytes }, done);
    return true;
  }
  const missing = quarantined.map(toPublicRange);
  const names = quarantined.map(({ firstBlock, lastBlock }) => formatRange(firstBlock, lastBlock));
  const incomplete = new PackhouseError({
    code: 'RANGE_INCOMPLETE',
    message: `Blocks ${range.firstBlock}-${range.lastBlock}: ${names.join(', ')} ${countBlocks(quarantined) === 1 ? 'is' : 'are'} missing.`,
    hint: 'They stay requested: start again, with another node if this one does not have them.',
    data: { missing },
  });
  io.exitCode = incomplete.exitCode;
  reporter.event({ event: 'done', blocks, seconds, bytes, missing }, `${done}\n${describeError(incomplete)}`);
  const failed = (await rows.quarantine.list()).filter(
    (row) => row.lastBlock >= range.firstBlock && row.firstBlock <= range.lastBlock,
  );
  for (const row of failed.slice(0, EXPLAINED))
    reporter.say(`  block ${formatRange(row.firstBlock, row.lastBlock)}: ${row.message} [${row.cause}]`);
  return true;
}

/**
 * Reports that `--once` waits until its last block is final (only final blocks are published), at the first poll and
 * once per minute.
 */
export function createWaiting(
  reporter: Reporter,
  elapsed: () => number,
): (status: Pick<NetworkStatus, 'head' | 'finalized'>, to: number) => void {
  let printedAt = Number.NEGATIVE_INFINITY;
  return ({ head, finalized }, to) => {
    if (head === null || (finalized !== null && finalized >= to) || elapsed() - printedAt < REPEAT_MS) return;
    printedAt = elapsed();
    const final =
      finalized === null || finalized < 0
        ? 'none is finalized yet'
        : `the newest finalized block is ${formatCount(finalized)}`;
    reporter.event(
      { event: 'waiting', block: to, head, finalized },
      `Waiting for block ${formatCount(to)} to be finalized: the head is block ${formatCount(head)}, ${final}.`,
    );
  };
}

/**
 * Whether every block of the range is published or quarantined in every kind. A quarantined block whose next try is due
 * at `now` (milliseconds since the epoch) is not settled: it is about to be fetched again.
 */
async function isSettled(
  database: NetworkDatabase,
  kinds: readonly Kind[],
  range: BlockRange,
  now: number,
): Promise<{ settled: boolean; quarantined: BlockRange[] }> {
  const holes: BlockRange[] = [];
  const rows = await database.quarantine.list();
  const due = rows
    .filter((row) => row.nextTry.getTime() <= now)
    .map(({ firstBlock, lastBlock }) => ({ firstBlock, lastBlock }));
  let settled = true;
  for (const kind of kinds) {
    const { published, quarantined } = await database.coverage(kind, range);
    const open = subtractRanges([range], unionRanges(published));
    const resting = subtractRanges(unionRanges(quarantined), unionRanges(due));
    holes.push(...intersectRanges(open, resting));
    if (subtractRanges(open, resting).length > 0) settled = false;
  }
  return { settled, quarantined: unionRanges(holes) };
}
