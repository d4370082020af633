import type { Clock } from '@packhouse/runtime';

/** The polled state of a head. */
interface Polled {
  number: number;
  hash: string;
  /** Whether blocks that are not final yet are requested. */
  followed: boolean;
  /** Whether blocks of it could not be staged yet. */
  failed: boolean;
}

/** When a head that no subscription announces is polled, and when the newest final block is asked for with it. */
interface PollPace {
  note(polled: Polled): void;
  /** Milliseconds until the next poll. */
  getPause(): number;
  /** Whether the next poll asks what is final. */
  asksFinalized(): boolean;
}

/** A head of which nothing is requested is polled this often, in milliseconds. */
const UNFOLLOWED_MS = 10_000;
/** After a silence the next block is noticed late by at most this part of it, and this many milliseconds. */
const LATE_SHARE = 0.05;
const MAX_LATE_MS = 3_000;
/** No block is expected before this part of the shortest time between the last ones. */
const QUIET_SHARE = 0.75;
const GAPS = 16;
const MIN_GAPS = 4;
/** Blocks are regular if half of the times between them are at most so many times the shortest. */
const REGULAR = 1.5;
/** For a chain that becomes quicker. */
const MAX_QUIET_MS = 10_000;
/** What is final is asked for at least this often, in milliseconds … */
const FINALIZED_MS = 10_000;
/** … and with each poll until the head has been silent for this long: with a new head, before its blocks are fetched. */
const SILENT_MS = 30_000;

/** Polls every `pollIntervalMs` when a block is due. */
export function createPollPace(
  clock: Pick<Clock, 'elapsed'>,
  { pollIntervalMs }: { pollIntervalMs: number },
): PollPace {
  /** Milliseconds per block between the newest heads. */
  const gaps: number[] = [];
  let last: (Polled & { changedAt: number }) | null = null;
  let finalizedAt = Number.NEGATIVE_INFINITY;

  return {
    note(polled) {
      const now = clock.elapsed();
      if (last?.hash === polled.hash) {
        last = { ...polled, changedAt: last.changedAt };
        return;
      }
      const blocks = last === null ? 0 : polled.number - last.number;
      if (last !== null && blocks > 0) {
        gaps.push((now - last.changedAt) / blocks);
        if (gaps.length > GAPS) gaps.shift();
      }
      last = { ...polled, changedAt: now };
    },
    getPause() {
      if (last === null || last.failed) return pollIntervalMs;
      if (!last.followed) return Math.max(pollIntervalMs, UNFOLLOWED_MS);
      const silence = clock.elapsed() - last.changedAt;
      return Math.max(pollIntervalMs, getQuiet(gaps) - silence, Math.min(MAX_LATE_MS, LATE_SHARE * silence));
    },
    asksFinalized() {
      const now = clock.elapsed();
      const isIdle = last !== null && (!last.followed || now - last.changedAt > SILENT_MS);
      if (isIdle && now - finalizedAt < FINALIZED_MS) return false;
      finalizedAt = now;
      return true;
    },
  };
}

/** Milliseconds after a block in which no other is expected. */
function getQuiet(gaps: readonly number[]): number {
  const sorted = [...gaps].sort((a, b) => a - b);
  const [shortest = 0] = sorted;
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  if (sorted.length < MIN_GAPS || median > REGULAR * shortest) return 0;
  return Math.min(MAX_QUIET_MS, QUIET_SHARE * shortest);
}
