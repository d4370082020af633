import { expect, it } from 'vitest';
import { createAnswerMemory } from './answer-memory.js';

const MIB = 1_048_576;

it('lets in what fits, and the next one as soon as somebody has taken an answer', async () => {
  const memory = createAnswerMemory(2 * MIB, 60_000);
  const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
  (await memory.enter(one.signal))(MIB);
  (await memory.enter(two.signal))(MIB);
  expect(memory).toMatchObject({ full: true, bytes: 2 * MIB });
  let entered = false;
  const waiting = memory.enter(three.signal).then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered).toBe(false);
  one.abort();
  await waiting;
  expect(memory.bytes).toBe(2 * MIB);
});

it('counts what an answer is and not what was guessed, and all of it is given back', async () => {
  const memory = createAnswerMemory(100 * MIB);
  const clients = Array.from({ length: 50 }, () => new AbortController());
  for (const { signal } of clients) (await memory.enter(signal))(10);
  expect(memory.bytes).toBe(500);
  for (const client of clients) client.abort();
  expect(memory).toMatchObject({ full: false, bytes: 0 });
});

it('refuses who waits too long with 503, and forgets who went away', async () => {
  const memory = createAnswerMemory(MIB, 10);
  const [first, gone] = [new AbortController(), new AbortController()];
  await memory.enter(first.signal);
  await expect(memory.enter(new AbortController().signal)).rejects.toMatchObject({
    reason: 'unavailable',
    status: 503,
    members: { retryAfterMs: 1_000 },
  });
  const leaving = memory.enter(gone.signal);
  gone.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  first.abort();
  expect(memory.bytes).toBe(0);
});
