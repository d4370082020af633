import { expect, it } from 'vitest';
import { createCapabilities } from './capabilities.js';

it('an upstream that refused every way is asked again after a minute: a method may be enabled at any time', () => {
  let now = 0;
  const { traces } = createCapabilities({ now: () => 0, elapsed: () => now, sleep: async () => undefined });
  const first = traces.mode;
  for (let { mode } = traces; mode !== null; { mode } = traces) traces.demote(mode, true);
  expect(traces.mode).toBeNull();
  now = 59_999;
  expect(traces.mode).toBeNull();
  now = 60_000;
  expect(traces.mode).toBe(first);
  expect(traces.confirmed).toBe(false);
});
