import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database, NetworkDatabase } from '@packhouse/database';
import {
  countBlocks,
  intersectRanges,
  type NetworkStatus,
  subtractRanges,
  unionRanges,
} from '@packhouse/pipeline';
import { describeError, PackhouseError, systemClock } from '@packhouse/runtime';
import { formatCount, formatRange } from '../terminal/format.js';
import type { CliIo } from '../terminal/io.js';
import type { ReadyNetwork } from './preflight.js';
import type { Reporter } from './report.js';

/** Missing blocks whose reason is printed. */
const EXPLAINED = 20;
/** How often `Waiting for block …` is repeated, in milliseconds. */
const REPEAT_MS = 60_000;

/**
 * Whether the range of `--once` is done: every block of every kind is published, or quarantined after its tries.
 * Reports the end, with the missing parts; the exit code is then that of RANGE_INCOMPLETE.
 */
export async function finishOnce(parts: {
  io: CliIo;
  database: Database;
  node: ReadyNetwork;
  reporter: Reporter;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Reports what was published since the last look. */
  lastLook(): Promise<void>;
}): Promise<boolean> {
  const { io, database, node, reporter } = parts;
  const rows = database.network(node.network.id);
  const range = { start: node.from, end: node.to as number };
  const { settled, quarantined } = await isSettled(rows, node.kinds, range, Date.now());
  if (!settled) return false;
  await parts.lastLook();
  const seconds = (systemClock.elapsed() - parts.startedAt) / 1000;
  const totals = await Promise.all(node.kinds.map((kind) => rows.bundles.totals(kind)));
  const bytes = totals.reduce((sum, total) => sum + total.bytes, 0);
  const blocks = countBlocks([range]) - countBlocks(quarantined);
  const done = `Done: ${blocks} blocks published in ${seconds.toFixed(1)} s.`;
  if (quarantined.length === 0) {
    reporter.event({ event: 'done', blocks, seconds, bytes }, done);
    return true;
  }
  const missing = quarantined.map(({ start, end }) => formatRange(start, end));
  const incomplete = new PackhouseError({
    code: 'RANGE_INCOMPLETE',
    message: `Blocks ${range.start}-${range.end}: ${missing.join(', ')} ${countBlocks(quarantined) === 1 ? 'is' : 'are'} missing.`,
    hint: 'They stay wanted: start again, with another node if this one does not have them.',
    data: { missing },
  });
  io.exitCode = incomplete.exitCode;
  reporter.event({ event: 'done', blocks, seconds, bytes, missing }, `${done}\n${describeError(incomplete)}`);
  const failed = (await rows.quarantine.list()).filter(
    (row) => row.end >= range.start && row.number <= range.end,
  );
  for (const row of failed.slice(0, EXPLAINED))
    reporter.say(`  block ${formatRange(row.number, row.end)}: ${row.message} [${row.cause}]`);
  return true;
}

/**
 * Reports that `--once` waits until its last block is final (only final blocks are published), at the first look and
 * once a minute.
 */
export function createWaiting(
  reporter: Reporter,
  elapsed: () => number,
): (status: Pick<NetworkStatus, 'head' | 'finalized'>, to: number) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return ({ head, finalized }, to) => {
    if (head === null || (finalized !== null && finalized >= to) || elapsed() - saidAt < REPEAT_MS) return;
    saidAt = elapsed();
    const final =
      finalized === null || finalized < 0
        ? 'no block is final yet'
        : `block ${formatCount(finalized)} is the newest final one`;
    reporter.event(
      { event: 'waiting', block: to, head, finalized },
      `Waiting for block ${formatCount(to)} to be final: the chain's head is block ${formatCount(head)}, ${final}.`,
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
    .map(({ number, end }) => ({ start: number, end }));
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
