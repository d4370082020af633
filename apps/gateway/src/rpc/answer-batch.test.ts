import type { ServerResponse } from 'node:http';
import { CallController } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Problem } from '../http/problem.js';
import { answerBatch } from './answer-batch.js';
import type { CallContext } from './method.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A batch of items that are no calls, in pieces, and whether its client was cut off. */
function batch(items: number) {
  const signal = new CallController();
  let cut = false;
  const response = {
    on: () => undefined,
    off: () => undefined,
    destroy() {
      cut = true;
      signal.abort(new Error('gone'));
    },
  };
  const problem = new Problem('request-malformed', { detail: 'No call.' });
  const pieces = answerBatch(
    Array.from({ length: items }, (_, id) => ({ id: String(id), problem })),
    { signal, network: { config: { rpc: { maxAnswerBytes: 1_000_000 } } } } as unknown as CallContext,
    { id: 'request', response: response as unknown as ServerResponse, turn: () => undefined },
    { enter: () => Promise.reject(new Error('no call')), waiting: 0 },
  );
  return { pieces, isCut: () => cut };
}

it('cuts off a client that does not take a piece in time, and answers nothing more', async () => {
  const { pieces, isCut } = batch(500);
  expect((await pieces.next()).done).toBe(false);
  vi.advanceTimersByTime(119_999);
  expect(isCut()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(isCut()).toBe(true);
  expect(await pieces.next()).toEqual({ done: true, value: undefined });
});

it('gives a client this time for each piece, and leaves no timer behind', async () => {
  const { pieces, isCut } = batch(500);
  const texts: Buffer[] = [];
  for await (const piece of pieces) {
    texts.push(piece);
    vi.advanceTimersByTime(119_999);
  }
  expect(texts.length).toBeGreaterThan(5);
  expect(JSON.parse(Buffer.concat(texts).toString())).toHaveLength(500);
  expect([isCut(), vi.getTimerCount()]).toEqual([false, 0]);
});
