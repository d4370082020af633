import type { Context } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createPlanTraces } from './plan-traces.js';

it('packing is in the trace of the plan that its first block was fetched by', () => {
  const ended: string[] = [];
  let count = 0;
  const work = (name: string) => {
    count += 1;
    const traceparent = `${name} ${count}`;
    return { traceparent, end: () => void ended.push(traceparent) };
  };
  const traces = createPlanTraces({ tracing: { work } as unknown as NonNullable<Context['tracing']> });
  expect(traces.begin('main', [])).toBeUndefined();
  traces.begin('main', [{ firstBlock: 0, lastBlock: 9, kinds: ['logs'] }])?.end();
  const second = traces.begin('main', [
    { firstBlock: 10, lastBlock: 19, kinds: ['logs', 'blocks'] },
    { firstBlock: 0, lastBlock: 4, kinds: ['logs'] },
  ]);
  expect(second?.traceparent).toBe('plan 2');
  expect(ended).toEqual(['plan 1']);
  const of = (kind: 'logs' | 'blocks', firstBlock: number) =>
    traces.of(kind, { firstBlock, lastBlock: firstBlock + 90 });
  expect([of('logs', 5), of('logs', 3), of('blocks', 12)]).toEqual(['plan 1', 'plan 2', 'plan 2']);
  expect([of('blocks', 3), of('logs', 20)]).toEqual([undefined, undefined]);
});

it('remembers nothing where nothing is traced', () => {
  const traces = createPlanTraces({});
  expect(traces.begin('main', [{ firstBlock: 0, lastBlock: 9, kinds: ['logs'] }])).toBeUndefined();
  expect(traces.of('logs', { firstBlock: 0, lastBlock: 9 })).toBeUndefined();
});
