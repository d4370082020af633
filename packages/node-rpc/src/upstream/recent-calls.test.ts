import { expect, it } from 'vitest';
import { createRecentCalls } from './recent-calls.js';

it('counts calls, times and errors of the last five minutes', () => {
  let elapsed = 0;
  const recent = createRecentCalls({ elapsed: () => elapsed });
  recent.called('eth_call', 'ok', 2);
  recent.answered('eth_call', 10);
  elapsed = 60_000;
  recent.called('eth_call', 'NODE_TIMEOUT', 1);
  recent.answered('eth_call', 25);
  recent.called('eth_getLogs', 'ok', 9);
  expect(recent.summarize()).toEqual({
    methods: [
      { method: 'eth_getLogs', calls: 9, ms: null },
      { method: 'eth_call', calls: 3, ms: 17.5 },
    ],
    errors: [{ meaning: 'NODE_TIMEOUT', calls: 1 }],
  });
  elapsed = 5 * 60_000;
  expect(recent.summarize().methods).toContainEqual({ method: 'eth_call', calls: 1, ms: 25 });
  elapsed = 6 * 60_000;
  expect(recent.summarize()).toEqual({ methods: [], errors: [] });
});

it('keeps no more names than a bounded number, however many clients invent', () => {
  const recent = createRecentCalls({ elapsed: () => 0 });
  for (let n = 0; n < 1_000; n++) recent.called(`invented_${n}`, 'ok', 1);
  const { methods } = recent.summarize();
  expect(methods).toHaveLength(20);
  expect(methods[0]).toEqual({ method: 'other', calls: 800, ms: null });
});
