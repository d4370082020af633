import type { NetworkStatus, Rate } from '@packhouse/report';
import { counted, formatBytes, formatCount, formatDuration } from '../terminal/format.js';
import type { CliIo } from '../terminal/io.js';

/** Sums over the requested kinds. */
interface Progress {
  network: string;
  head: number | null;
  /** Blocks requested. */
  requested: number;
  /** Blocks that are staged (or published) in every kind. */
  staged: number;
  /** Blocks that are published in every kind. */
  published: number;
  quarantined: number;
  bundles: number;
  bytes: number;
  blocksPerSecond: number;
  /** Bytes of bundles published per second. */
  bytesPerSecond: number;
  etaSeconds: number | null;
}

/** Sums a status up: a block counts if all requested kinds have it. */
export function toProgress(
  status: NetworkStatus,
  getRate: (kind: NetworkStatus['kinds'][number]) => Rate,
): Progress {
  const { kinds } = status;
  const least = (numbers: number[]): number => (numbers.length === 0 ? 0 : Math.min(...numbers));
  const rates = kinds.map(getRate);
  const etas = rates.flatMap((rate) => (rate.etaSeconds === null ? [] : [rate.etaSeconds]));
  return {
    network: status.network,
    head: status.head,
    requested: Math.max(0, ...kinds.map((kind) => kind.requested)),
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

/** Lines for people; the progress is one line redrawn in place on a terminal, else a line twice per minute. */
interface View {
  say(line: string): void;
  /** A line that the next one replaces; only on a terminal. */
  step(line: string): void;
  progress(progress: Progress): void;
  /** Ends the line that is redrawn. */
  end(): void;
}

const PLAIN_EVERY_MS = 30_000;
const CLEAR = '\r\u001b[2K';

/** Creates a view on stdout. */
export function createView(io: CliIo, elapsed: () => number): View {
  const live = io.stdout.isTTY === true;
  let drawn = false;
  let lastPlain = Number.NEGATIVE_INFINITY;
  let lastLine = '';
  const clear = (): void => {
    if (drawn) io.stdout.write(CLEAR);
    drawn = false;
  };
  const step = (line: string): void => {
    if (!live) return;
    clear();
    io.stdout.write(line.slice(0, (io.stdout.columns ?? 120) - 1));
    drawn = true;
  };
  return {
    say(line) {
      clear();
      io.stdout.write(`${line}\n`);
    },
    step,
    progress(progress) {
      // A reader that reads nothing gets no progress, rather than all of it later.
      if (io.stdout.writableNeedDrain) return;
      const line = describeProgress(progress);
      step(line);
      if (live || line === lastLine || elapsed() - lastPlain < PLAIN_EVERY_MS) return;
      lastPlain = elapsed();
      lastLine = line;
      io.stdout.write(`${line}\n`);
    },
    end: clear,
  };
}

function describeProgress(progress: Progress): string {
  const { head, requested, staged, published, bundles, bytes, quarantined, etaSeconds } = progress;
  // Without an estimate either all is fetched, or nothing is known yet.
  const isUpToDate = etaSeconds === null && head !== null && staged >= requested;
  const files = bundles === 0 ? '' : ` in ${counted(bundles, 'bundle')} (${formatBytes(bytes)})`;
  return [
    `head ${head === null ? 'unknown' : formatCount(head)}`,
    `fetched ${formatCount(staged)} of ${counted(requested, 'block')}`,
    `published ${formatCount(published)}${files}`,
    `${progress.blocksPerSecond.toFixed(1)} blocks/s`,
    ...(progress.bytesPerSecond >= 1 ? [`${formatBytes(progress.bytesPerSecond)}/s`] : []),
    ...(etaSeconds === null ? [] : [`ETA ${formatDuration(etaSeconds)}`]),
    ...(isUpToDate ? ['up to date'] : []),
    ...(quarantined > 0 ? [`${formatCount(quarantined)} quarantined`] : []),
  ].join('  ');
}
