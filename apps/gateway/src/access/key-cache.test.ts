import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { describe, expect, it } from 'vitest';
import { createKeyCache } from './key-cache.js';

const KEY = `ph_abcDEF12_${'x'.repeat(43)}`;
const row = { id: 1, prefix: 'ph_abcDEF12' } as KeyRow;

function setup(find: (sha256: Buffer) => Promise<KeyRow | null>) {
  const time = { now: 1_000_000, elapsed: 0 };
  const asked: string[] = [];
  const cache = createKeyCache({
    find: (sha256) => {
      asked.push(sha256.toString('hex'));
      return find(sha256);
    },
    findAmong: async () => new Map(),
    clock: { now: () => time.now, elapsed: () => time.elapsed, sleep: async () => undefined },
  });
  return { cache, time, asked };
}

describe('the cache of API keys', () => {
  it('asks the database by the SHA-256 of the key, once for all who ask at once', async () => {
    const { cache, asked } = setup(async () => row);
    expect(await Promise.all([cache.find(KEY), cache.find(KEY), cache.find(KEY)])).toEqual([row, row, row]);
    expect(asked).toEqual([hash('sha256', KEY, 'hex')]);
  });

  it('never asks the database about a malformed key', async () => {
    const { cache, asked } = setup(async () => row);
    for (const key of ['', 'x', `${KEY}x`, KEY.slice(1), KEY.replace('_', '-'), `${KEY}\n`]) {
      expect(await cache.find(key), key).toBeNull();
    }
    expect(asked).toEqual([]);
  });

  it('knows of a revocation within a second', async () => {
    let answer = row;
    const { cache, time } = setup(async () => answer);
    await cache.find(KEY);
    answer = { ...row, revokedAt: new Date(0) };
    time.elapsed += 999;
    expect(await cache.find(KEY)).toBe(answer);
  });

  it('renews a key in use before its time is over, without letting anybody wait', async () => {
    let answer = row;
    const { cache, time, asked } = setup(async () => answer);
    await cache.find(KEY);
    answer = { ...row };
    time.elapsed += 500;
    expect(await cache.find(KEY)).toBe(row);
    expect(asked).toHaveLength(2);
    await Promise.resolve();
    expect(await cache.find(KEY)).toBe(answer);
  });

  it('remembers unknown keys for as long, and forgets the oldest of ten thousand', async () => {
    const { cache, asked } = setup(async () => null);
    const key = (n: number) => `ph_abcDEF12_${String(n).padStart(43, '0')}`;
    await cache.find(key(0));
    await cache.find(key(0));
    expect(asked).toHaveLength(1);
    for (let n = 1; n <= 10_000; n++) await cache.find(key(n));
    await cache.find(key(0));
    expect(asked).toHaveLength(10_002);
  });

  it('asks again after its time, also when the clock was set back', async () => {
    const { cache, time, asked } = setup(async () => row);
    await cache.find(KEY);
    time.now -= 3_600_000;
    await cache.find(KEY);
    expect(asked).toHaveLength(1);
    time.elapsed += 900;
    await cache.find(KEY);
    expect(asked).toHaveLength(2);
  });

  it('fails when the database is gone and the last answer is too old', async () => {
    let gone = false;
    const { cache, time } = setup(async () => {
      if (gone) throw new Error('gone');
      return row;
    });
    await cache.find(KEY);
    gone = true;
    time.elapsed += 600;
    expect(await cache.find(KEY)).toBe(row);
    time.elapsed += 400;
    await expect(cache.find(KEY)).rejects.toThrow('gone');
  });
});
