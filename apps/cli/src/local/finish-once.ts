import type { Database } from '@packhouse/database';
import { countBlocks } from '@packhouse/pipeline';
import { describeError, PackhouseError } from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import { rangeOf } from '../quarantine/describe.js';
import type { ReadyNetwork } from './preflight.js';
import type { Reporter } from './report.js';
import { isSettled } from './watch.js';

/** Blocks that could not be had are explained one by one up to this many. */
const EXPLAINED = 20;

/**
 * Whether the range of `--once` is done: every block of every kind is published, or quarantined after its tries.
 * Says so; where parts could not be had they are named, and the exit code is that of RANGE_INCOMPLETE.
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
  const network = node.network.id;
  const range = { start: node.from, end: node.to as number };
  const { settled, quarantined } = await isSettled(database, network, node.kinds, range, Date.now());
  if (!settled) return false;
  await parts.lastLook();
  const seconds = (Date.now() - parts.startedAt) / 1000;
  const totals = await Promise.all(node.kinds.map((kind) => database.network(network).bundles.totals(kind)));
  const bytes = totals.reduce((sum, total) => sum + total.bytes, 0);
  const blocks = countBlocks([range]) - countBlocks(quarantined);
  const done = `Done: ${blocks} blocks published in ${seconds.toFixed(1)} s.`;
  if (quarantined.length === 0) {
    reporter.event({ event: 'done', blocks, seconds, bytes }, done);
    return true;
  }
  const missing = quarantined.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`));
  const incomplete = new PackhouseError({
    code: 'RANGE_INCOMPLETE',
    message: `Of the range ${range.start} to ${range.end} these blocks could not be had: ${missing.join(', ')}.`,
    hint: 'They stay wanted: start again, with another node where this one cannot give them.',
    data: { missing },
  });
  io.exitCode = incomplete.exitCode;
  reporter.event({ event: 'done', blocks, seconds, bytes, missing }, `${done}\n${describeError(incomplete)}`);
  const rows = (await database.network(network).quarantine.list()).filter(
    (row) => row.end >= range.start && row.number <= range.end,
  );
  for (const row of rows.slice(0, EXPLAINED))
    reporter.say(`  block ${rangeOf(row)}: ${row.message} [${row.cause}]`);
  return true;
}
