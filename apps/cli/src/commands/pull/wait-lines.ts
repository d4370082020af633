import type { Wait } from '@packhouse/client';
import { systemClock } from '@packhouse/runtime';
import { formatDuration } from '../../terminal/format.js';

/** Between two lines about waits that the gateway asks for, in milliseconds. */
const SELDOM_MS = 10_000;

/** Hears of waits, and of their end. */
export interface Waits {
  wait(wait: Wait): void;
  /** A request that broke was answered. */
  back(): void;
}

/**
 * Says why a pull waits: once while the gateway is away, and when it is back; if it is given up, the error of the pull says
 * so. With eight files at a time and a small plan there are several waits per second: only some get a line.
 */
export function createWaitLines(say: (text: string) => void): Waits {
  let isAway = false;
  let printedAt = -Infinity;
  return {
    wait({ reason, seconds, rateLimited }) {
      const what = reason.replace(/\.$/, '');
      if (rateLimited) {
        if (systemClock.elapsed() - printedAt < SELDOM_MS) return;
        printedAt = systemClock.elapsed();
        say(`${what}; retrying in ${formatDuration(seconds)}.`);
      } else if (!isAway) {
        isAway = true;
        say(`${what}; retrying.`);
      }
    },
    back() {
      if (isAway) say('The gateway answers again.');
      isAway = false;
    },
  };
}
