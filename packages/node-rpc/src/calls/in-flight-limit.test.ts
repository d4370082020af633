import { describe, expect, it } from 'vitest';
import { createInFlightLimit } from './in-flight-limit.js';

describe('createInFlightLimit', () => {
  it('grows by one a success until the first strain, then by one a round, never beyond its ceiling', () => {
    const changes: number[] = [];
    const limit = createInFlightLimit({ start: 4, max: 12, onChange: (value) => changes.push(value) });
    for (let index = 0; index < 6; index += 1) limit.succeeded('m', 10);
    expect(limit.limit).toBe(10);
    limit.strained(performance.now());
    expect(limit.limit).toBe(5);
    for (let index = 0; index < 5; index += 1) limit.succeeded('m', 10);
    expect(limit.limit).toBe(5);
    limit.succeeded('m', 10);
    expect(limit.limit).toBe(6);
    for (let index = 0; index < 500; index += 1) limit.succeeded('m', 10);
    expect(limit.limit).toBe(12);
    expect(changes.slice(0, 7)).toEqual([5, 6, 7, 8, 9, 10, 5]);
  });

  it('goes down once for all that failed together, and never below one', () => {
    const limit = createInFlightLimit({ start: 8, max: 8 });
    const startedAt = performance.now();
    for (let index = 0; index < 8; index += 1) limit.strained(startedAt);
    expect(limit.limit).toBe(4);
    for (let index = 0; index < 8; index += 1) limit.strained(performance.now() + index);
    expect(limit.limit).toBe(1);
  });

  it('does not grow while answers take much longer than the best', () => {
    const limit = createInFlightLimit({ start: 4, max: 16 });
    limit.succeeded('m', 10);
    for (let index = 0; index < 10; index += 1) limit.succeeded('m', 500);
    expect(limit.limit).toBe(5);
    limit.succeeded('other', 500);
    limit.succeeded('other', 500);
    for (let index = 0; index < 10; index += 1) limit.succeeded('other', 500);
    expect(limit.limit).toBeGreaterThan(5);
  });

  it('runs no more than its limit at once, but for those that let go early', async () => {
    const limit = createInFlightLimit({ start: 2, max: 2 });
    const releases: (() => void)[] = [];
    const ends: (() => void)[] = [];
    const run = (): Promise<string> =>
      limit.run(
        (release) =>
          new Promise((resolve) => {
            releases.push(release);
            ends.push(() => resolve('done'));
          }),
      );
    const all = [run(), run(), run()];
    await new Promise((resolve) => setImmediate(resolve));
    expect([ends.length, limit.load]).toEqual([2, 3]);
    releases[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect([ends.length, limit.load]).toEqual([3, 2]);
    for (const end of ends) end();
    expect(await Promise.all(all)).toEqual(['done', 'done', 'done']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(limit.load).toBe(0);
  });

  it('passes errors on and frees the place', async () => {
    const limit = createInFlightLimit({ start: 1, max: 1 });
    await expect(limit.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await limit.run(async () => 'next')).toBe('next');
  });
});
