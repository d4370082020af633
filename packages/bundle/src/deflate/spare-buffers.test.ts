import { expect, it } from 'vitest';
import { SpareBuffers } from './deflate-piece.js';

const text = (length: number): Buffer => Buffer.alloc(length, 'a');

it('copies into what was given back, if it is large enough and not much larger', () => {
  const spare = new SpareBuffers();
  const first = spare.copy(text(300_000));
  expect(text(300_000).equals(first)).toBe(true);
  const { buffer } = first;
  expect(spare.copy(text(300_000)).buffer).not.toBe(buffer);
  spare.giveBack(buffer);
  expect(spare.copy(text(5_000_000)).buffer).not.toBe(buffer);
  expect(spare.copy(text(10)).buffer).toBe(buffer);
  spare.giveBack(buffer);
  expect(spare.take(1).buffer).toBe(buffer);
  spare.giveBack(buffer);
  expect(spare.take(270_000)).toHaveLength(270_000);
  spare.giveBack(buffer);
  const again = spare.copy(text(400_000));
  expect(again.buffer).toBe(buffer);
  expect(again).toHaveLength(400_000);
  expect(text(400_000).equals(again)).toBe(true);
});

it('keeps no more than 16 MiB', () => {
  const spare = new SpareBuffers();
  const given = Array.from({ length: 5 }, () => new ArrayBuffer(4 * 1_048_576));
  for (const buffer of given) spare.giveBack(buffer);
  const taken = given.map(() => spare.copy(text(4_000_000)).buffer);
  expect(given.filter((buffer) => taken.includes(buffer))).toEqual(given.slice(1));
});
