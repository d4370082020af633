import type { Rates } from '@packhouse/pipeline';
import { systemClock } from '@packhouse/runtime';
import { formatBytes } from '../terminal/format.js';
import { type CliIo, write } from '../terminal/io.js';
import { createView, progressOf } from './view.js';
import type { Look } from './watch.js';

/** One line of --json. */
type ReportedEvent = { event: string } & Record<string, unknown>;

/** The output of `packhouse local`: lines for people, or only one JSON object a line. */
export interface Reporter {
  /** A line for people; nothing with --json. */
  say(line: string): void;
  /** An event for programs, and its line for people. */
  event(event: ReportedEvent, line: string): void;
  /** A part fails and tries again; the same message is printed once a minute at most. */
  problem(part: string, message: string, code?: string): void;
  look(look: Look, rates: Rates): void;
  end(): void;
}

const REPEAT_MS = 60_000;

export function createReporter(io: CliIo, json: boolean): Reporter {
  const view = json ? null : createView(io, () => systemClock.elapsed());
  const said = new Map<string, number>();
  const say = (line: string): void => view?.say(line);
  const event = (data: ReportedEvent, line: string): void => {
    if (view === null) write(io, data);
    else view.say(line);
  };
  return {
    say,
    event,
    problem(part, message, code) {
      const key = `${part} ${message.replace(/\d+/g, '#')}`;
      const now = systemClock.elapsed();
      if (now - (said.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
      if (said.size > 1_000) said.clear();
      said.set(key, now);
      event({ event: 'problem', part, ...(code && { code }), message }, `! ${part}: ${message}`);
    },
    look({ status, published, quarantined }, rates) {
      for (const { kind, start, end, byteLength, sha256 } of published) {
        event(
          { event: 'published', kind, range: `${start}-${end}`, bytes: byteLength, sha256 },
          `published ${kind} ${start}-${end} (${formatBytes(byteLength)})`,
        );
      }
      for (const { number, end, kinds, cause, message, nextTry } of quarantined) {
        event(
          { event: 'quarantined', block: number, end, kinds, cause, message, nextTry },
          `! ${number === end ? `block ${number} is` : `blocks ${number}-${end} are`} quarantined: ${message}`,
        );
      }
      const progress = progressOf(status, rates.of);
      if (view !== null) view.progress(progress);
      else if (!io.stdout.writableNeedDrain) write(io, { event: 'progress', ...progress });
    },
    end: () => view?.end(),
  };
}
