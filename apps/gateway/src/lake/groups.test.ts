import { expect, it } from 'vitest';
import { maxFilesOf, toGroups } from './groups.js';

/** Partitions of these numbers, each with so many files of one row and ten bytes. */
function partitions(numbers: readonly number[], files: number) {
  return numbers.map((chunk) => ({
    chunk,
    files,
    rows: files,
    bytes: 10 * files,
    changedSnapshot: chunk + 1,
    oldestSnapshot: chunk + 1,
  }));
}
const first = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const ranges = (chunks: ReturnType<typeof partitions>): [number, number, number][] =>
  toGroups(chunks).map(({ firstBlock, lastBlock, files }) => [firstBlock, lastBlock, files]);

it('puts up to 1,000 files of 10 million blocks into one group', () => {
  expect(ranges(partitions(first(101), 10))).toEqual([
    [0, 9_999_999, 1_000],
    [10_000_000, 19_999_999, 10],
  ]);
});

it('divides blocks with more files, and no others', () => {
  const dense = partitions(first(11), 100);
  const sparse = partitions([100], 3);
  expect(ranges([...dense, ...sparse])).toEqual([
    [0, 999_999, 1_000],
    [1_000_000, 1_999_999, 100],
    [10_000_000, 19_999_999, 3],
  ]);
  expect(ranges(partitions([0, 1], 1_000))).toEqual([
    [0, 99_999, 1_000],
    [100_000, 199_999, 1_000],
  ]);
});

it('adds up what the files have, with those that are gone, and leaves out groups without files', () => {
  const [{ bytes, rows, changedSnapshot, oldestSnapshot } = expect.fail()] = toGroups([
    ...partitions([3], 2),
    ...partitions([7], 0),
  ]);
  expect({ bytes, rows, changedSnapshot, oldestSnapshot }).toEqual({
    bytes: 20,
    rows: 2,
    changedSnapshot: 8,
    oldestSnapshot: 4,
  });
  expect(toGroups(partitions([5], 0))).toEqual([]);
});

it('knows the blocks of a group, so that no request makes a larger one', () => {
  expect(maxFilesOf({ firstBlock: 10_000_000, lastBlock: 19_999_999 })).toBe(1_000);
  expect(maxFilesOf({ firstBlock: 300_000, lastBlock: 399_999 })).toBe(100_000);
  expect(maxFilesOf({ firstBlock: 5, lastBlock: 100_004 })).toBeNull();
  expect(maxFilesOf({ firstBlock: 0, lastBlock: 999_999_999 })).toBeNull();
});
