import { describe, expect, it } from 'vitest';
import { createBodyCache } from './body-cache.js';

const body =
  (size: number, fill = 1) =>
  async () => ({ bytes: Buffer.alloc(size, fill), sha256: String(fill) });

describe('the cache of files', () => {
  it('loads a file once for all who ask at once, and shares its bytes', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 50 });
    let loads = 0;
    const load = async () => {
      loads += 1;
      return body(40)();
    };
    const [a, b] = await Promise.all([cache.pin('k', 40, load), cache.pin('k', 40, load)]);
    expect(loads).toBe(1);
    expect(a?.bytes).toBe(b?.bytes);
    expect(cache.bytes).toBe(40);
  });

  it('forgets the file that was not used for longest to make room', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 50 });
    for (const key of ['a', 'b']) (await cache.pin(key, 40, body(40)))?.release();
    (await cache.pin('a', 40, body(40)))?.release();
    (await cache.pin('c', 40, body(40)))?.release();
    expect(['a', 'b', 'c'].map((key) => cache.peek(key) !== undefined)).toEqual([true, false, true]);
    expect(cache.bytes).toBe(80);
  });

  it('never holds more than its bound, however slowly its readers read', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 50 });
    const slow = [await cache.pin('a', 50, body(50)), await cache.pin('b', 50, body(50))];
    expect(await cache.pin('c', 50, body(50))).toBeNull();
    expect(cache.bytes).toBe(100);
    slow[0]?.release();
    slow[0]?.release();
    expect(await cache.pin('c', 50, body(50))).not.toBeNull();
    expect(cache.peek('a')).toBeUndefined();
    expect(cache.peek('b')).toBeDefined();
  });

  it('counts files that are still on their way', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 60 });
    let arrive: () => void = () => undefined;
    const arriving = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const first = cache.pin('a', 60, async () => {
      await arriving;
      return body(60)();
    });
    expect(await cache.pin('b', 60, body(60))).toBeNull();
    arrive();
    expect((await first)?.bytes).toHaveLength(60);
  });

  it('leaves a single file that is too large to others', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 50 });
    expect(await cache.pin('k', 51, body(51))).toBeNull();
    expect(cache.bytes).toBe(0);
  });

  it('forgets a file that could not be loaded', async () => {
    const cache = createBodyCache({ maxBytes: 100, maxBodyBytes: 50 });
    await expect(cache.pin('k', 40, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(cache.bytes).toBe(0);
    expect((await cache.pin('k', 40, body(40, 7)))?.sha256).toBe('7');
  });
});
