import { expect, test } from 'vitest';
import { getCalls, getCondition, getLatency, type Node } from './node-state.js';

const process = (state: Node['processes'][number]['state'], since = '2026-11-26T04:41:00Z') => {
  return { process: 'a', role: 'ingester', host: 'h', seenAt: since, state, since } as const;
};
const NODE = {
  cordon: null,
  failedBlocks: [] as number[],
  lag: 0,
  lastError: null,
  leftOut: null,
  processes: [process('ok')],
  silentSince: null,
} as unknown as Node;
const words = (more: Partial<Node>): string => getCondition({ ...NODE, ...more }).words;

test('the worst that is known of a node is told', () => {
  expect(words({})).toBe('Active');
  expect(words({ lag: 9 })).toBe('Active');
  expect(words({ lag: 10 })).toBe('Behind');
  expect(words({ lag: 10, processes: [process('ok'), process('resting')] })).toBe('Backing off');
  expect(words({ processes: [process('left-out')] })).toBe('Different finalized block');
  expect(words({ processes: [] })).toBe('Not in use');
});

test('a wrong response is told also while no other node has proved the block', () => {
  expect(words({ failedBlocks: [7] })).toBe('Wrong response');
  expect(words({ failedBlocks: [7], processes: [process('distrusted')] })).toBe('Failed a proof');
});

test('since when it is so is told, by the process that saw it first, and when a wrong response is tried again', () => {
  const [first, second] = ['2026-11-26T04:41:00Z', '2026-11-26T05:00:00Z'];
  const processes = [process('left-out', second), process('left-out', first), process('ok')];
  expect(getCondition({ ...NODE, processes })).toMatchObject({ name: 'left-out', since: first, until: null });
  const wrong = { failedBlocks: [7], failedSince: first, retryAt: second };
  expect(getCondition({ ...NODE, ...wrong })).toMatchObject({ since: first, until: second });
  expect(getCondition({ ...NODE, cordon: { actor: 'ada', reason: 'x', at: first } })).toMatchObject({
    name: 'cordoned',
    since: first,
  });
});

test('one that does not answer is worse than all else, and a cordon ends all questions', () => {
  const silent = { silentSince: '2026-11-26T04:41:00Z', lastError: 'refused', failedBlocks: [7] };
  expect(getCondition({ ...NODE, ...silent })).toMatchObject({ words: 'Not answering', why: 'refused' });
  expect(words({ ...silent, cordon: { actor: 'ada', reason: 'x', at: 'y' } })).toBe('Cordoned');
});

test('latency is the mean of all answers, and errors are a share of calls', () => {
  const methods = [
    { method: 'a', calls: 30, ms: 10 },
    { method: 'b', calls: 10, ms: 50 },
    { method: 'c', calls: 60, ms: null },
  ];
  expect(getLatency({ methods })).toBe(20);
  expect(getLatency({ methods: [] })).toBeNull();
  expect(getCalls({ methods, errors: [{ meaning: 'x', calls: 25 }] })).toEqual({
    calls: 100,
    failed: 25,
    share: 0.25,
  });
  expect(getCalls({ methods: [], errors: [] }).share).toBeNull();
});
