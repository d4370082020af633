import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { vi } from 'vitest';
import type { JobRequest } from '../queues.js';

/** What was logged since it was last emptied. */
export const lines: string[] = [];
/** The context of all queue tests. */
export const context: Context = {
  logger: createLogger({ name: 'test', level: 'debug', destination: { write: (line) => lines.push(line) } }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};
/** A job of ten blocks from `start` on. */
export const ingest = (id: string, start = 0, priority = 1): JobRequest<'ingest'> => ({
  id,
  payload: { network: 'demo', start, end: start + 9, kinds: ['blocks', 'logs'] },
  priority,
});
/** Waits until a check passes. */
export const until = (check: () => unknown) => vi.waitFor(check, { timeout: 120_000, interval: 10 });

/** Something that is opened by hand: a job that runs until the test says so. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
