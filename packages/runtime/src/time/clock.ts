import type { CallSignal } from './signals.js';

/** The time, so that tests can control it. */
export interface Clock {
  /**
   * The date, in milliseconds since the Unix epoch: for what is shown, and what is compared with dates from elsewhere.
   * It jumps when the machine's clock is set.
   */
  now(): number;
  /** Milliseconds since the process began: for every duration. It never goes back. */
  elapsed(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: CallSignal): Promise<void>;
}

/** A day of UTC. */
export const DAY_MS = 86_400_000;

/** The day of UTC that holds a point in time, as days since 1970-01-01. */
export const toDay = (ms: number): number => Math.floor(ms / DAY_MS);

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Tells whether words may be logged now, and how often they were left out since the last time. */
type OnceAWhile = (words: string) => { say: boolean; hidden: number };

/** Most words that are remembered; beyond that the oldest are removed. */
const MAX_WORDS = 1_000;

/**
 * Allows the same words once in `everyMs` milliseconds. Words are the same if only numbers and hashes in them differ:
 * an upstream that fails every block is one problem, not a million.
 */
export function createOnceAWhile(everyMs: number, elapsed: () => number): OnceAWhile {
  const said = new Map<string, { at: number; hidden: number }>();
  return (words) => {
    const key = words.slice(0, 1_000).replace(/\b0x[0-9a-f]+\b|\b[0-9a-f]{32,}\b|\d+/gi, '#');
    const before = said.get(key);
    const time = elapsed();
    if (before !== undefined && time - before.at < everyMs) {
      before.hidden += 1;
      return { say: false, hidden: before.hidden };
    }
    said.delete(key);
    if (said.size >= MAX_WORDS) said.delete(said.keys().next().value as string);
    said.set(key, { at: time, hidden: 0 });
    return { say: true, hidden: before?.hidden ?? 0 };
  };
}

const DATE = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads `2026-11-22`, which is its midnight in UTC, or `2026-11-22T18:00+01:00`; null for anything else. A time without
 * its offset would depend on the zone of the machine.
 */
export function parseDate(text: string): Date | null {
  const day = DATE.exec(text)?.[1];
  const midnight = new Date(`${day}T00:00Z`);
  // 30 February would be read as a day of March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(`${day}`)) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}
