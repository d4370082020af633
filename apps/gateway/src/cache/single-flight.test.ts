import type { ForwardAnswer } from '@packhouse/node-rpc';
import type { CallSignal } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createSingleFlight } from './single-flight.js';

const small: ForwardAnswer = {
  kind: 'result',
  body: { bytes: Buffer.from('1'), rest: null },
  upstream: 'node',
};
const streamed = (): ForwardAnswer => ({
  ...small,
  body: { bytes: Buffer.from('1'), rest: (async function* () {})() },
});

const createSharedCalls = () =>
  createSingleFlight<ForwardAnswer>((answer) => answer.kind === 'result' && answer.body.rest !== null);

/** A question that the test answers. */
function question() {
  const asked: { signal: CallSignal; answer: (answer: ForwardAnswer) => void }[] = [];
  const ask = (signal: CallSignal): Promise<ForwardAnswer> =>
    new Promise((resolve, reject) => {
      asked.push({ signal, answer: resolve });
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  return { asked, ask, at: (n: number) => asked[n] as (typeof asked)[number] };
}

const stays = (): CallSignal => new AbortController().signal;

it('asks once for all who ask the same at the same time, and anew for who comes later', async () => {
  const shared = createSharedCalls();
  const { asked, ask, at } = question();
  const all = [1, 2, 3].map(() => shared.join('a', stays(), ask));
  const other = shared.join('b', stays(), ask);
  expect(asked).toHaveLength(2);
  at(0).answer(small);
  expect(await Promise.all(all)).toEqual([small, small, small]);
  void shared.join('a', stays(), ask);
  expect(asked).toHaveLength(3);
  at(1).answer(small);
  await other;
});

it('goes on for the others when the first client goes away, and stops when all are gone', async () => {
  const shared = createSharedCalls();
  const { asked, ask, at } = question();
  const clients = [1, 2].map(() => new AbortController());
  const [first, second] = clients.map(({ signal }) => shared.join('a', signal, ask));
  clients[0]?.abort(new Error('first left'));
  await expect(first).rejects.toThrow('first left');
  expect(at(0).signal.aborted).toBe(false);
  clients[1]?.abort(new Error('second left'));
  await expect(second).rejects.toThrow('second left');
  expect(at(0).signal.aborted).toBe(true);
  // A new caller does not join a question that is being aborted.
  const third = shared.join('a', stays(), ask);
  expect(asked).toHaveLength(2);
  at(1).answer(small);
  expect(await third).toBe(small);
});

it('gives what is streamed to one, though the first is gone, and asks again for each other', async () => {
  const shared = createSharedCalls();
  const { asked, ask, at } = question();
  const [gone, reader] = [new AbortController(), new AbortController()];
  const first = shared.join('a', gone.signal, ask);
  const second = shared.join('a', reader.signal, ask);
  const third = shared.join('a', stays(), ask);
  gone.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  const stream = streamed();
  at(0).answer(stream);
  expect(await second).toBe(stream);
  await expect.poll(() => asked.length).toBe(2);
  at(1).answer(small);
  expect(await third).toBe(small);
  // The stream ends when its reader leaves.
  expect(at(0).signal.aborted).toBe(false);
  reader.abort(new Error('read enough'));
  expect(at(0).signal.aborted).toBe(true);
});
