import { expect, it } from 'vitest';
import { createAnswerMemory } from './answer-memory.js';

const MIB = 1_048_576;

it('lets in what fits, and the next one as soon as somebody has taken an answer', async () => {
  const memory = createAnswerMemory(2 * MIB, 60_000);
  const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
  (await memory.reserve(one.signal, 1, 'a'))(MIB);
  (await memory.reserve(two.signal, 2, 'a'))(MIB);
  expect([memory.isFull(3), memory.bytes]).toEqual([true, 2 * MIB]);
  let entered = false;
  const waiting = memory.reserve(three.signal, 3, 'a').then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered).toBe(false);
  one.abort();
  await waiting;
  expect(memory.bytes).toBeGreaterThan(MIB);
  expect(memory.bytes).toBeLessThan(2 * MIB);
});

it('counts what an answer is and not what was guessed, and all of it is given back', async () => {
  const memory = createAnswerMemory(100 * MIB);
  const clients = Array.from({ length: 50 }, () => new AbortController());
  for (const { signal } of clients) (await memory.reserve(signal, 1, 'a'))(10);
  expect(memory.bytes).toBe(500);
  for (const client of clients) client.abort();
  expect([memory.isFull(1), memory.bytes]).toEqual([false, 0]);
});

it('refuses who waits too long with 503, and forgets who went away', async () => {
  const memory = createAnswerMemory(MIB, 10);
  const [first, gone] = [new AbortController(), new AbortController()];
  (await memory.reserve(first.signal, 1, 'a'))(MIB);
  await expect(memory.reserve(new AbortController().signal, 1, 'a')).rejects.toMatchObject({
    reason: 'unavailable',
    status: 503,
    members: { retryAfterMs: 1_000 },
  });
  const leaving = memory.reserve(gone.signal, 1, 'a');
  gone.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  first.abort();
  expect(memory.bytes).toBe(0);
});

it('guesses no more of the next answers than their average, so that one large answer keeps nobody out', async () => {
  const memory = createAnswerMemory(256 * MIB, 10);
  const large = new AbortController();
  (await memory.reserve(large.signal, 1, 'a'))(64 * MIB);
  large.abort();
  const clients = Array.from({ length: 30 }, () => new AbortController());
  for (const [n, { signal }] of clients.entries()) await memory.reserve(signal, n, 'a');
  expect(memory.isFull(1)).toBe(false);
  for (const client of clients) client.abort();
  expect(memory.bytes).toBe(0);
});

it('gives one client half of the room at most', async () => {
  const memory = createAnswerMemory(4 * MIB, 10);
  const one = new AbortController();
  (await memory.reserve(one.signal, 1, 'a'))(3 * MIB);
  expect([1, 2].map((owner) => memory.isFull(owner))).toEqual([true, false]);
  const later = new AbortController();
  await expect(memory.reserve(later.signal, 1, 'a')).rejects.toMatchObject({ reason: 'unavailable' });
  (await memory.reserve(new AbortController().signal, 2, 'a'))(MIB / 2);
  expect(memory.bytes).toBe(3.5 * MIB);
});

it('lets a call in that is inside already, and takes back what had no answer', async () => {
  const memory = createAnswerMemory(MIB, 10);
  const { signal } = new AbortController();
  (await memory.reserve(signal, 1, 'a'))(2 * MIB);
  const piece = await memory.reserve(signal, 1, 'a');
  piece(0);
  expect(memory.bytes).toBe(2 * MIB);
});

it('guesses of a method what answers to it were, not others', async () => {
  const memory = createAnswerMemory(256 * MIB, 10);
  const small = new AbortController();
  for (let n = 0; n < 100; n++) (await memory.reserve(small.signal, 1, 'small'))(100);
  small.abort();
  await memory.reserve(new AbortController().signal, 1, 'large');
  expect(memory.bytes).toBe(MIB);
});
