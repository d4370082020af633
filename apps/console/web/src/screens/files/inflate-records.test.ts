import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inflateRecords } from './inflate-records.js';

const gz = (text: string): Blob => new Blob([new Uint8Array(gzipSync(text))]);

test.each([
  [[]],
  [[[], [{ a: '],[' }], []]],
  [[{ a: 'x\\"]' }, { b: [1, { c: '😀' }] }, null, 'text, with ] in it', 5]],
])('finds the elements of %j', async (value) => {
  const text = JSON.stringify(value);
  expect(await inflateRecords(gz(text), 10)).toEqual({
    first: value,
    rawBytes: Buffer.byteLength(text),
  });
});

test('parses no more than it was asked for, and counts everything', async () => {
  const text = JSON.stringify(Array.from({ length: 10_000 }, (_, number) => ({ number })));
  expect(await inflateRecords(gz(text), 2)).toEqual({
    first: [{ number: 0 }, { number: 1 }],
    rawBytes: text.length,
  });
});

test('refuses what is cut off or no gzip', async () => {
  const whole = gz('[1,2,3]');
  await expect(inflateRecords(whole.slice(0, whole.size - 4), 1)).rejects.toThrow();
  await expect(inflateRecords(new Blob(['[1,2,3]']), 1)).rejects.toThrow();
});
