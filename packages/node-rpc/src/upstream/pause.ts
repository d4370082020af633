import type { Clock } from '@packhouse/runtime';

/** The pauses that one upstream asked for. */
export interface Pause {
  /** Milliseconds until it may be asked; 0 now. */
  waitMs(): number;
  /** It asked for one in answer to a request that began at `startedAt` (performance.now). */
  ask(wish: { pauseMs: number; retryAfterMs?: number | undefined }, startedAt: number): void;
  /** It answers as it should: the next pause is a first one. */
  over(): void;
}

/** What it asks for itself may be longer: see retryAfterMs. */
const LONGEST_MS = 60_000;

/** Makes them: as long as the upstream says, else the usual time, doubled each time in a row up to a minute. */
export function createPause(clock: Clock): Pause {
  let until = 0;
  let inARow = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    waitMs: () => (until === 0 ? 0 : Math.max(0, until - clock.now())),
    ask: ({ pauseMs, retryAfterMs }, startedAt) => {
      if (pauseMs === 0 && retryAfterMs === undefined) return;
      // What was in flight together is refused together: one doubling for all of it.
      if (startedAt >= lastAt) {
        inARow += 1;
        lastAt = performance.now();
      }
      const usual = Math.min(LONGEST_MS, pauseMs * 2 ** Math.min(inARow - 1, 10));
      until = Math.max(until, clock.now() + (retryAfterMs ?? usual));
    },
    over: () => {
      inARow = 0;
    },
  };
}
