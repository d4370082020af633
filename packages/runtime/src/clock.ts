import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './context.js';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? undefined : { signal });
    } catch (error) {
      throw signal?.reason ?? error;
    }
  },
};
