import type { NetworkStatus, Rate } from '@packhouse/pipeline';
import { formatBytes, formatCount, formatDuration } from '../terminal/format.js';
import type { CliIo } from '../terminal/io.js';

/** Sums over the wanted kinds. */
interface Progress {
  network: string;
  head: number | null;
  /** Blocks wanted. */
  wanted: number;
  /** Blocks that are staged (or published) in every kind. */
  staged: number;
  /** Blocks that are published in every kind. */
  published: number;
  quarantined: number;
  bundles: number;
  bytes: number;
  blocksPerSecond: number;
  /** Bytes of bundles published a second. */
  bytesPerSecond: number;
  etaSeconds: number | null;
}

/** Sums a status up: a block counts if all wanted kinds have it. */
export function progressOf(
  status: NetworkStatus,
  rateOf: (kind: NetworkStatus['kinds'][number]) => Rate,
): Progress {
  const { kinds } = status;
  const least = (numbers: number[]): number => (numbers.length === 0 ? 0 : Math.min(...numbers));
  const rates = kinds.map(rateOf);
  const etas = rates.flatMap((rate) => (rate.etaSeconds === null ? [] : [rate.etaSeconds]));
  return {
    network: status.network,
    head: status.head,
    wanted: Math.max(0, ...kinds.map((kind) => kind.wanted)),
    staged: least(kinds.map((kind) => kind.staged + kind.published)),
    published: least(kinds.map((kind) => kind.published)),
    quarantined: Math.max(0, ...kinds.map((kind) => kind.quarantined)),
    bundles: kinds.reduce((sum, kind) => sum + kind.bundles, 0),
    bytes: kinds.reduce((sum, kind) => sum + kind.bytes, 0),
    blocksPerSecond: least(rates.map((rate) => rate.blocksPerSecond)),
    bytesPerSecond: rates.reduce((sum, rate) => sum + rate.bytesPerSecond, 0),
    etaSeconds: etas.length === 0 ? null : Math.max(...etas),
  };
}

/** Lines for people; the progress is one line redrawn in place on a terminal, else a line every few seconds. */
interface View {
  say(line: string): void;
  progress(progress: Progress): void;
  /** Ends the line that is redrawn. */
  end(): void;
}

const PLAIN_EVERY_MS = 5_000;

/** Creates a view on stdout. */
export function createView(io: CliIo, elapsed: () => number): View {
  const live = io.stdout.isTTY === true;
  let drawn = false;
  let lastPlain = Number.NEGATIVE_INFINITY;
  let lastLine = '';
  const clear = (): void => {
    if (drawn) io.stdout.write('\r\u001b[2K');
    drawn = false;
  };
  return {
    say(line) {
      clear();
      io.stdout.write(`${line}\n`);
    },
    progress(progress) {
      // A reader that reads nothing gets no progress, rather than all of it later.
      if (io.stdout.writableNeedDrain) return;
      const line = progressLine(progress);
      if (live) {
        clear();
        io.stdout.write(line.slice(0, (io.stdout.columns ?? 120) - 1));
        drawn = true;
      } else if (line !== lastLine && elapsed() - lastPlain >= PLAIN_EVERY_MS) {
        lastPlain = elapsed();
        lastLine = line;
        io.stdout.write(`${line}\n`);
      }
    },
    end: clear,
  };
}

function progressLine(progress: Progress): string {
  const parts = [
    `head ${progress.head === null ? '?' : formatCount(progress.head)}`,
    `staged ${formatCount(progress.staged)}`,
    `published ${formatCount(progress.published)} of ${formatCount(progress.wanted)} blocks in ${formatCount(progress.bundles)} bundles (${formatBytes(progress.bytes)})`,
    `${progress.blocksPerSecond.toFixed(1)} blocks/s`,
    `${(progress.bytesPerSecond / 1e6).toFixed(1)} MB/s`,
    progress.etaSeconds === null ? 'up to date' : `ETA ${formatDuration(progress.etaSeconds)}`,
  ];
  // No estimate: either all is done, or nothing is known yet.
  const done = progress.head !== null && progress.staged >= progress.wanted;
  if (progress.etaSeconds === null && !done) parts.pop();
  if (progress.quarantined > 0) parts.push(`${formatCount(progress.quarantined)} quarantined`);
  return parts.join('  ');
}
