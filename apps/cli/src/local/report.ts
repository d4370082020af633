import { appendFileSync } from 'node:fs';
import type { Rates } from '@packhouse/report';
import { createLogger, type Logger, systemClock } from '@packhouse/runtime';
import { formatBytes, formatRange } from '../terminal/format.js';
import { type CliIo, write } from '../terminal/io.js';
import { createView, toProgress } from './view.js';
import type { Poll } from './watch.js';

/** One line of --json. */
type ReportedEvent = { event: string } & Record<string, unknown>;

/** The output of `packhouse local`: lines for people, or only one JSON object per line. */
export interface Reporter {
  /** A line for people; nothing with --json. */
  say(line: string): void;
  /** What is being done: on a terminal until the next line, elsewhere in the log alone. */
  step(line: string): void;
  /** A line of the log; people see it with --verbose. */
  log(line: string): void;
  /** An event for programs, and its line for people. */
  event(event: ReportedEvent, line?: string): void;
  /** A part fails and tries again; the same message is printed once per minute at most. */
  problem(part: string, message: string, code?: string): void;
  progress(poll: Poll, rates: Rates): void;
  /** Begins the log. */
  openLog(file: string): void;
  end(): void;
}

const REPEAT_MS = 60_000;

export function createReporter(
  io: CliIo,
  { json = false, verbose = false }: { json?: boolean; verbose?: boolean },
): Reporter {
  const view = json ? null : createView(io, () => systemClock.elapsed());
  const printedAt = new Map<string, number>();
  let logger: Logger | null = null;
  const event = (data: ReportedEvent, line?: string): void => {
    if (view === null) write(io, data);
    else if (line !== undefined) view.say(line);
  };
  const log = (line: string): void => {
    logger?.info(line);
    if (verbose) view?.say(line);
  };
  return {
    say: (line) => view?.say(line),
    step(line) {
      log(line);
      if (!verbose) view?.step(line);
    },
    log,
    event,
    problem(part, message, code) {
      const key = `${part} ${message.replace(/\d+/g, '#')}`;
      const now = systemClock.elapsed();
      if (now - (printedAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
      if (printedAt.size > 1_000) printedAt.clear();
      printedAt.set(key, now);
      logger?.warn({ part, code }, message);
      event({ event: 'problem', part, ...(code && { code }), message }, `Warning: ${part}: ${message}`);
    },
    progress({ status, published, quarantined }, rates) {
      for (const { kind, firstBlock, lastBlock, byteLength, sha256 } of published) {
        event({ event: 'published', kind, from: firstBlock, to: lastBlock, bytes: byteLength, sha256 });
        log(`Published ${kind} ${firstBlock}-${lastBlock} (${formatBytes(byteLength)})`);
      }
      for (const { firstBlock, lastBlock, kinds, cause, message, nextTry } of quarantined) {
        event(
          { event: 'quarantined', from: firstBlock, to: lastBlock, kinds, cause, message, nextTry },
          `Warning: quarantined ${firstBlock === lastBlock ? 'block' : 'blocks'} ${formatRange(firstBlock, lastBlock)}: ${message}`,
        );
      }
      const progress = toProgress(status, rates.of);
      if (view !== null) view.progress(progress);
      else if (!io.stdout.writableNeedDrain) write(io, { event: 'progress', ...progress });
    },
    openLog(file) {
      const append = (line: string): void => {
        try {
          appendFileSync(file, line);
        } catch {
          // The disk is full: the work goes on without this line.
        }
      };
      logger = createLogger({ name: 'local', destination: { write: append } });
    },
    end: () => view?.end(),
  };
}
