import { expect, it } from 'vitest';
import { looksLikeBound, parseBound, resolveRange } from './range.js';

it.each([
  ['17000000', { type: 'block', number: 17_000_000 }],
  ['17_000_000', { type: 'block', number: 17_000_000 }],
  ['17,000,000', { type: 'block', number: 17_000_000 }],
  ['17M', { type: 'block', number: 17_000_000 }],
  ['17.05m', { type: 'block', number: 17_050_000 }],
  ['17e6', { type: 'block', number: 17_000_000 }],
  ['1.75E+7', { type: 'block', number: 17_500_000 }],
  ['+1e3', { type: 'relative', blocks: 1_000 }],
  ['900k', { type: 'block', number: 900_000 }],
  ['0', { type: 'block', number: 0 }],
  ['+1000', { type: 'relative', blocks: 1_000 }],
  ['-1k', { type: 'relative', blocks: -1_000 }],
  ['2024-05-01', { type: 'date', atMs: Date.UTC(2024, 4, 1) }],
  ['2024-05-01T12:30Z', { type: 'date', atMs: Date.UTC(2024, 4, 1, 12, 30) }],
])('%s is read', (text, bound) => {
  expect(looksLikeBound(text)).toBe(true);
  expect(parseBound(text, '--from')).toEqual(bound);
});

it.each([
  '',
  'x',
  '1.5',
  '1.0005k',
  '1.75e1',
  '17e-6',
  '1e99',
  '17e',
  '17G',
  '1_00',
  '0x10',
  '2024-02-31',
  '2024-13-01',
  '2024-05-01T12:00',
  '99999999999999999',
])('"%s" is refused', (text) => {
  expect(() => parseBound(text, '--from')).toThrow(
    expect.objectContaining({ code: 'RANGE_INVALID', message: expect.stringContaining(`--from takes`) }),
  );
});

it.each(['parquet', 'jsonl', 'postgres://host/db?table=logs', 'mirror'])('%s is a word', (text) => {
  expect(looksLikeBound(text)).toBe(false);
});

it('a reversed range is called that', async () => {
  const [from, to] = [parseBound('9', '--from'), parseBound('3', '--to')];
  const published = { firstBlock: 0, lastBlock: 99 };
  await expect(resolveRange({ from, to }, published, () => Promise.resolve(0))).rejects.toMatchObject({
    code: 'RANGE_INVALID',
    message: expect.stringContaining('the range 9 to 3 is reversed'),
  });
});
