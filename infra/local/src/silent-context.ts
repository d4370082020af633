import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';

/** A context that logs nothing, for tests; `parts` replace its own. */
export function silentContext(parts: Partial<Context> = {}): Context {
  return {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
    ...parts,
  };
}
