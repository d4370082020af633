import type { CallSignal } from './signals.js';

/** Places that callers share fairly: so many run at a time, and the others wait for their turns. */
export interface FairTurns {
  /**
   * Takes a place for a caller, at once if one is free for it; call the returned function, once, to leave it. Who waits gets
   * the next place if its caller runs fewest, in turn among equals; calls of one caller are served in their order. Rejects
   * with the signal's reason when that is aborted. Throws TooManyWaitingError.
   */
  enter(caller: Caller, signal: CallSignal): (() => void) | Promise<() => void>;
  /** Calls that wait. */
  readonly waiting: number;
}

/** An id of a key, an address, or FIRST. */
type Caller = string | number | typeof FIRST;

/** The caller who never waits behind another. */
export const FIRST = Symbol('first');

/** As many calls wait already as may. */
export class TooManyWaitingError extends Error {}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Of so many places one is kept free for callers who run nothing, if more than one caller came lately. */
const PLACES_PER_KEPT = 8;
/** With fewer places none is kept free. */
const MIN_TO_KEEP = 4;
const LATELY_MS = 60_000;
/** Lines that are kept while they are empty: making one for each call costs more than the rest of a free place. */
const KEPT_LINES = 64;

/** `mostWaiting`: calls of one caller that may wait, and of all together; default: any number. */
export function createFairTurns(
  places: number,
  mostWaiting: { readonly each: number; readonly all: number } = NO_LIMIT,
): FairTurns {
  const kept = places < MIN_TO_KEEP ? 0 : Math.max(1, Math.floor(places / PLACES_PER_KEPT));
  const lines = new Map<Caller, Line>();
  /** The lines in which somebody waits; who was served last comes last. */
  const queued = new Map<Caller, Line>();
  let running = 0;
  let waiting = 0;
  let last: Caller | undefined;
  let severalAt = Number.NEGATIVE_INFINITY;

  const forget = (caller: Caller, line: Line): void => {
    if (lines.size > KEPT_LINES && line.running === 0 && line.waiting.size === 0) lines.delete(caller);
  };
  const mayBegin = (caller: Caller, line: Line): boolean => {
    if (running >= places) return false;
    if (running < places - kept || line.running === 0 || caller === FIRST) return true;
    return performance.now() - severalAt > LATELY_MS;
  };
  /** The line whose turn it is: of those that may begin, the one that runs fewest. */
  const nextLine = (): Line | undefined => {
    let next: Line | undefined;
    for (const [caller, line] of queued) {
      if (caller === FIRST) return line;
      if ((next === undefined || line.running < next.running) && mayBegin(caller, line)) next = line;
    }
    return next;
  };
  const take = (caller: Caller, line: Line): (() => void) => {
    running += 1;
    line.running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      line.running -= 1;
      if (line.running === 0) forget(caller, line);
      while (queued.size > 0 && running < places) {
        const next = nextLine();
        if (next === undefined) return;
        const [begin] = next.waiting;
        begin?.();
      }
    };
  };

  return {
    enter(caller, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (caller !== last && caller !== FIRST) {
        if (last !== undefined) severalAt = performance.now();
        last = caller;
      }
      let line = lines.get(caller);
      if (line === undefined) {
        line = { running: 0, waiting: new Set() };
        lines.set(caller, line);
      }
      const mine = line;
      if (mine.waiting.size === 0 && mayBegin(caller, mine)) return take(caller, mine);
      if (mine.waiting.size >= mostWaiting.each || waiting >= mostWaiting.all) {
        forget(caller, mine);
        throw new TooManyWaitingError(`${mine.waiting.size} calls wait already`);
      }
      return new Promise((resolve, reject) => {
        const end = (): void => {
          waiting -= 1;
          mine.waiting.delete(begin);
          if (mine.waiting.size === 0) queued.delete(caller);
          signal.removeEventListener('abort', gone);
        };
        const begin = (): void => {
          end();
          if (queued.delete(caller)) queued.set(caller, mine);
          resolve(take(caller, mine));
        };
        const gone = (): void => {
          end();
          forget(caller, mine);
          reject(signal.reason);
        };
        waiting += 1;
        mine.waiting.add(begin);
        queued.set(caller, mine);
        signal.addEventListener('abort', gone, { once: true });
      });
    },
    get waiting() {
      return waiting;
    },
  };
}

const NO_LIMIT = { each: Number.POSITIVE_INFINITY, all: Number.POSITIVE_INFINITY };
