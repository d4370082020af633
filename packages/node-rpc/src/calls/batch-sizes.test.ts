import { describe, expect, it } from 'vitest';
import { jumpingClock } from '../../test/test-source.js';
import { createBatchSizes } from './batch-sizes.js';

const calls = (count: number, weight = 1) => Array.from({ length: count }, () => ({ weight }));
const lengths = (batches: unknown[][]): number[] => batches.map((batch) => batch.length);
const small = (count: number) => ({ calls: count, weight: count, bytes: count * 1_400, elapsedMs: 500 });

describe('createBatchSizes', () => {
  it('says what a batch settles at, within the limit of the upstream', () => {
    const sizes = createBatchSizes({ clock: jumpingClock(), largest: 50 });
    expect([1, 20_000, 300_000, 9_000_000].map((bytes) => sizes.usual(bytes))).toEqual([50, 20, 1, 1]);
  });

  it('starts at 16 and doubles on full, small, quick batches up to 100', () => {
    const sizes = createBatchSizes({ clock: jumpingClock() });
    const seen = [sizes.size('m')];
    for (let index = 0; index < 4; index += 1) {
      sizes.succeeded('m', small(sizes.size('m')));
      seen.push(sizes.size('m'));
    }
    expect(seen).toEqual([16, 32, 64, 100, 100]);
    expect(sizes.size('other')).toBe(16);
  });

  it('does not grow on batches that were not full or that took long', () => {
    const sizes = createBatchSizes({ clock: jumpingClock() });
    sizes.succeeded('m', small(15));
    sizes.succeeded('m', { ...small(16), elapsedMs: 4_000 });
    expect(sizes.size('m')).toBe(16);
  });

  it('cuts by the bytes that calls are expected to bring; one above 200 KB goes alone', () => {
    const sizes = createBatchSizes({ clock: jumpingClock() });
    sizes.succeeded('m', { calls: 4, weight: 4, bytes: 1_000_000, elapsedMs: 10 });
    expect(sizes.size('m')).toBe(1);
    expect(lengths(sizes.plan('m', calls(3)))).toEqual([1, 1, 1]);
    const mixed = [...calls(2, 0.5), ...calls(1, 3), ...calls(3, 0.5)];
    expect(lengths(sizes.plan('m', mixed))).toEqual([2, 1, 3]);
  });

  it('believes growth at once and shrinking slowly', () => {
    const sizes = createBatchSizes({ clock: jumpingClock() });
    sizes.succeeded('m', { calls: 1, weight: 1, bytes: 300_000, elapsedMs: 10 });
    sizes.succeeded('m', { calls: 1, weight: 1, bytes: 1_000, elapsedMs: 10 });
    expect(sizes.size('m')).toBe(1);
    for (let index = 0; index < 20; index += 1) {
      sizes.succeeded('m', { calls: 1, weight: 1, bytes: 1_000, elapsedMs: 10 });
    }
    expect(sizes.size('m')).toBeGreaterThan(10);
  });

  it('halves after too much, approaches what was too much without reaching it, and forgets it after a while', () => {
    const clock = jumpingClock();
    const sizes = createBatchSizes({ clock });
    sizes.tooMuch('m', 16);
    const seen = [sizes.size('m')];
    for (let index = 0; index < 6; index += 1) {
      sizes.succeeded('m', small(sizes.size('m')));
      seen.push(sizes.size('m'));
    }
    expect(seen).toEqual([8, 12, 14, 15, 15, 15, 15]);
    clock.jump(300_001);
    sizes.succeeded('m', small(15));
    expect(sizes.size('m')).toBe(30);
    sizes.tooMuch('m', 2);
    sizes.tooMuch('m', 1);
    expect(sizes.size('m')).toBe(1);
  });

  it('never exceeds what a rate limit lets through at once', () => {
    const sizes = createBatchSizes({ clock: jumpingClock(), largest: 10 });
    for (let index = 0; index < 5; index += 1) sizes.succeeded('m', small(sizes.size('m')));
    expect(sizes.size('m')).toBe(10);
  });
});
