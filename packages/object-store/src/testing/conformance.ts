import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { isPackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectStore, PutOptions } from '../object-store.js';

/** The options of a put that fit a body. */
export function optionsFor(body: Buffer, more: Partial<PutOptions> = {}): PutOptions {
  return {
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: 'application/gzip',
    metadata: {},
    ...more,
  };
}

/** Matches a PackhouseError of this code. */
export function coded(code: string): unknown {
  return expect.toSatisfy((error) => isPackhouseError(error) && error.code === code);
}

async function getKeys(store: ObjectStore, prefix: string, after?: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix, after === undefined ? {} : { after })) keys.push(key);
  return keys;
}

/** Puts many small objects, some concurrently. */
async function putAll(store: ObjectStore, keys: readonly string[]): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let key = keys[next++]; key !== undefined; key = keys[next++]) {
      const body = Buffer.from(key);
      await store.put(key, body, optionsFor(body));
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/**
 * The tests that every store must pass.
 *
 * `open` returns an empty store; `verifies` tells whether its `put` says that it checked the stored bytes, `compares`
 * whether it does (default: if it says so).
 */
export function objectStoreConformance(
  name: string,
  options: {
    open: () => Promise<{ store: ObjectStore; close: () => Promise<void> }>;
    verifies: boolean;
    compares?: boolean;
  },
): void {
  describe(`an object store: ${name}`, () => {
    let store: ObjectStore;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ store, close } = await options.open());
    });
    afterAll(async () => {
      for await (const { key } of store.list('')) await store.delete(key);
      await store.close();
      await close();
    });

    it('gives back what was put, with its facts, and says whether it checked it', async () => {
      const body = randomBytes(100_000);
      const put = optionsFor(body, { metadata: { range: '0-99', 'format-version': '1', empty: '' } });
      expect(await store.put('mainnet/blocks/0-99.json.gz', body, put)).toEqual({
        verified: options.verifies,
      });
      expect((await store.read('mainnet/blocks/0-99.json.gz')).equals(body)).toBe(true);
      expect((await buffer(await store.stream('mainnet/blocks/0-99.json.gz'))).equals(body)).toBe(true);
      const { metadata, ...facts } = (await store.head('mainnet/blocks/0-99.json.gz')) as {
        metadata: object;
      };
      expect(facts).toEqual({
        key: 'mainnet/blocks/0-99.json.gz',
        size: body.length,
        sha256: put.sha256,
        modifiedAt: expect.any(Date),
      });
      expect(metadata).toMatchObject({ range: '0-99', 'format-version': '1' });
    });

    it('says when an object was last written, in listings too', async () => {
      const body = Buffer.from('just now');
      const before = Date.now();
      await store.put('when/now', body, optionsFor(body));
      const listed = [];
      for await (const object of store.list('when/')) listed.push(object);
      const [{ modifiedAt } = {}] = listed;
      expect(listed).toEqual([{ key: 'when/now', size: body.length, modifiedAt: expect.any(Date) }]);
      expect(Math.abs((modifiedAt as Date).getTime() - before)).toBeLessThan(60_000);
      expect((await store.head('when/now'))?.modifiedAt?.getTime()).toBeLessThan(before + 60_000);
    });

    it('keeps an empty object', async () => {
      const body = Buffer.alloc(0);
      await store.put('empty/object', body, optionsFor(body));
      expect((await store.read('empty/object')).length).toBe(0);
      expect((await buffer(await store.stream('empty/object'))).length).toBe(0);
      expect(await store.head('empty/object')).toMatchObject({ size: 0 });
    });

    it('says of a key that is not there that it is missing', async () => {
      for (const key of ['nothing', 'nothing/here.json.gz', 'mainnet', 'mainnet/blocks']) {
        await expect(store.read(key)).rejects.toThrow(coded('OBJECT_MISSING'));
        await expect(store.read(key, { range: { start: 0, end: 0 } })).rejects.toThrow(
          coded('OBJECT_MISSING'),
        );
        await expect(store.stream(key)).rejects.toThrow(coded('OBJECT_MISSING'));
        expect(await store.head(key)).toBeNull();
        await store.delete(key);
      }
      expect(await store.head('mainnet/blocks/0-99.json.gz')).not.toBeNull();
    });

    it('gives inclusive ranges, cut at the end of the object', async () => {
      const body = randomBytes(1_000);
      await store.put('ranges', body, optionsFor(body));
      for (const [start, end] of [
        [0, 0],
        [0, 999],
        [10, 19],
        [999, 999],
        [990, 5_000],
        [0, 2 ** 40],
      ] as const) {
        const expected = body.subarray(start, end + 1);
        expect((await store.read('ranges', { range: { start, end } })).equals(expected)).toBe(true);
        expect((await buffer(await store.stream('ranges', { range: { start, end } }))).equals(expected)).toBe(
          true,
        );
      }
    });

    it('refuses a part of an object that is another than expected', async () => {
      const body = randomBytes(1_000);
      const { sha256 } = optionsFor(body);
      await store.put('expected', body, optionsFor(body, { metadata: { range: '0-99' } }));
      const range = { start: 10, end: 19 };
      const part = await store.stream('expected', { range, expected: { size: 1_000, sha256 } });
      expect((await buffer(part)).equals(body.subarray(10, 20))).toBe(true);
      for (const expected of [
        { size: 999, sha256 },
        { size: 1_000, sha256: optionsFor(Buffer.from('other')).sha256 },
      ])
        await expect(store.stream('expected', { range, expected })).rejects.toThrow(coded('OBJECT_MISMATCH'));
    });

    it('refuses a range behind the end, and one that is none', async () => {
      const body = Buffer.from('0123456789');
      await store.put('short', body, optionsFor(body));
      const behind = { range: { start: 10, end: 12 } };
      await expect(store.read('short', behind)).rejects.toThrow(coded('OBJECT_MISMATCH'));
      await expect(store.stream('short', behind)).rejects.toThrow(coded('OBJECT_MISMATCH'));
      await expect(store.read('empty/object', { range: { start: 0, end: 0 } })).rejects.toThrow(
        coded('OBJECT_MISMATCH'),
      );
      for (const [start, end] of [
        [5, 4],
        [-1, 4],
        [0.5, 4],
      ] as const) {
        await expect(store.read('short', { range: { start, end } })).rejects.toThrow(coded('INTERNAL'));
      }
    });

    it.skipIf(!(options.compares ?? options.verifies))(
      'keeps nothing of a body that has another sha256 than was said (needs a store that compares)',
      async () => {
        const wrong = optionsFor(Buffer.from('another body'));
        await expect(store.put('wrong', Buffer.from('this body'), wrong)).rejects.toThrow(
          coded('OBJECT_MISMATCH'),
        );
        expect(await store.head('wrong')).toBeNull();
        expect(await getKeys(store, 'wrong')).toEqual([]);
      },
    );

    it('replaces an object whole, with its facts', async () => {
      for (const text of ['the first version', 'the second', 'the third one']) {
        const body = Buffer.from(text);
        await store.put('replaced', body, optionsFor(body, { metadata: { text } }));
        expect((await store.read('replaced')).toString()).toBe(text);
        expect(await store.head('replaced')).toMatchObject({
          size: body.length,
          sha256: optionsFor(body).sha256,
          metadata: { text },
        });
      }
    });

    it('replaces no object that is written once, except by the same bytes', async () => {
      const [first, other] = [Buffer.from('what was published'), Buffer.from('what would be now')];
      const once = (body: Buffer) => store.put('once', body, optionsFor(body, { once: true }));
      expect(await once(first)).toEqual({ verified: options.verifies });
      await expect(once(other)).rejects.toThrow(coded('OBJECT_EXISTS'));
      await expect(once(other)).rejects.toThrow(optionsFor(first).sha256);
      expect((await store.read('once')).equals(first)).toBe(true);
      expect(await once(first)).toEqual({ verified: options.verifies });
      await store.delete('once');
      await once(other);
      expect((await store.read('once')).equals(other)).toBe(true);
    });

    it('lets one of two puts of a key win whole', async () => {
      const bodies = Array.from({ length: 8 }, (_, i) => Buffer.alloc(200_000 + i, i));
      await Promise.all(
        bodies.map((body, i) =>
          store.put('raced', body, optionsFor(body, { metadata: { writer: String(i) } })),
        ),
      );
      const kept = await store.read('raced');
      const winner = kept[0] as number;
      expect(kept.equals(bodies[winner] as Buffer)).toBe(true);
      expect(await store.head('raced')).toMatchObject({
        sha256: optionsFor(kept).sha256,
        metadata: { writer: String(winner) },
      });
    });

    it('deletes, also what is not there', async () => {
      const body = Buffer.from('gone');
      await store.put('deleted/object', body, optionsFor(body));
      await store.delete('deleted/object');
      await store.delete('deleted/object');
      expect(await store.head('deleted/object')).toBeNull();
      expect(await getKeys(store, 'deleted/')).toEqual([]);
    });

    it('lists keys by their bytes, whatever the folders', async () => {
      const keys = ['l/a-b/1', 'l/a.b', 'l/a/1', 'l/a/10', 'l/a/2', 'l/a/b/c', 'l/a0', 'l/aa', 'l/B', 'l2/x'];
      await putAll(store, keys);
      const sorted = (prefix: string) => keys.filter((key) => key.startsWith(prefix)).sort();
      for (const prefix of ['l/', 'l', 'l/a', 'l/a/', 'l/a/1', 'l/a-b/']) {
        const listed = (await getKeys(store, prefix)).filter((key) => /^l2?\//.test(key));
        expect(listed).toEqual(sorted(prefix));
      }
      for (const after of ['', ...keys, 'l/a/', 'l/a/15', 'l/a/b', 'l/zz']) {
        expect(await getKeys(store, 'l/', after)).toEqual(sorted('l/').filter((key) => key > after));
      }
      for await (const { key, size } of store.list('l/')) expect(size).toBe(key.length);
    });

    it('lists nothing under a prefix that nothing has', async () => {
      expect(await getKeys(store, 'no/such/prefix')).toEqual([]);
      expect(await getKeys(store, 'no/such/')).toEqual([]);
    });

    it('lists more keys than fit into one page', async () => {
      const keys = Array.from({ length: 1_050 }, (_, i) => `many/${i * 100}-${i * 100 + 99}.json.gz`);
      await putAll(store, keys);
      expect(await getKeys(store, 'many/')).toEqual([...keys].sort());
      let first = '';
      for await (const { key } of store.list('many/')) {
        first = key;
        break;
      }
      expect(first).toBe('many/0-99.json.gz');
    });

    it('keeps a big object', async () => {
      const body = randomBytes(20_000_000);
      await store.put('big', body, optionsFor(body));
      expect((await store.read('big')).equals(body)).toBe(true);
      expect((await buffer(await store.stream('big'))).equals(body)).toBe(true);
      const middle = { start: 9_999_999, end: 11_000_000 };
      const expected = body.subarray(middle.start, middle.end + 1);
      expect((await store.read('big', { range: middle })).equals(expected)).toBe(true);
    });

    it('lets a stream be left early', async () => {
      for (let i = 0; i < 3; i++) {
        const stream = await store.stream('big');
        for await (const _ of stream) break;
        expect(stream.destroyed).toBe(true);
      }
    });

    it('stops with the reason of the signal', async () => {
      const reason = new Error('draining');
      const signal = AbortSignal.abort(reason);
      const body = Buffer.from('never');
      await expect(store.put('aborted', body, optionsFor(body, { signal }))).rejects.toBe(reason);
      await expect(store.read('big', { signal })).rejects.toBe(reason);
      await expect(store.stream('big', { signal })).rejects.toBe(reason);
      await expect(store.head('big', { signal })).rejects.toBe(reason);
      await expect(store.list('', { signal })[Symbol.asyncIterator]().next()).rejects.toBe(reason);
      expect(await store.head('aborted')).toBeNull();
    });

    it('leaves a whole object or none when a put is stopped in the middle', async () => {
      const body = randomBytes(5_000_000);
      for (let i = 0; i < 10; i++) {
        const controller = new AbortController();
        const put = store.put('stopped', body, optionsFor(body, { signal: controller.signal }));
        setTimeout(() => controller.abort(new Error('draining')), i);
        await put.catch(() => {});
        if ((await store.head('stopped')) !== null)
          expect((await store.read('stopped')).equals(body)).toBe(true);
      }
    });

    it('ends a stream whose signal is aborted', async () => {
      const controller = new AbortController();
      const stream = await store.stream('big', { signal: controller.signal });
      controller.abort(new Error('draining'));
      await expect(buffer(stream)).rejects.toThrow();
    });

    it.each([
      '',
      '/a',
      'a/',
      'a//b',
      '..',
      'a/../b',
      '.hidden',
      'a/.tmp/b',
      'a b',
      'ä',
      'a\\b',
      'a\nb',
      'a'.repeat(1_025),
    ])('refuses %j as a key', async (key) => {
      const body = Buffer.from('x');
      await expect(store.put(key, body, optionsFor(body))).rejects.toThrow(coded('NAME_INVALID'));
      await expect(store.read(key)).rejects.toThrow(coded('NAME_INVALID'));
      await expect(store.stream(key)).rejects.toThrow(coded('NAME_INVALID'));
      await expect(store.head(key)).rejects.toThrow(coded('NAME_INVALID'));
      await expect(store.delete(key)).rejects.toThrow(coded('NAME_INVALID'));
    });

    it('refuses a prefix that no key can have', async () => {
      for (const prefix of ['../', '/', 'a//', '.meta/']) {
        await expect(getKeys(store, prefix)).rejects.toThrow(coded('NAME_INVALID'));
      }
    });

    it('refuses metadata that some store could not keep', async () => {
      const body = Buffer.from('x');
      const refused: Record<string, string>[] = [
        { 'Upper-Case': 'x' },
        { sha256: 'x' },
        { name: 'ä' },
        { name: 'a\nb' },
        { name: 'x'.repeat(3_000) },
      ];
      for (const metadata of refused) {
        await expect(store.put('facts', body, optionsFor(body, { metadata }))).rejects.toThrow(
          coded('INTERNAL'),
        );
      }
    });
  });
}
