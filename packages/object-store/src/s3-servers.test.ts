import { randomBytes } from 'node:crypto';
import {
  type LocalS3,
  makeBucket,
  S3_SERVERS,
  type S3Server,
  s3ServerInstalled,
  startS3Server,
} from '@packhouse/local';
import { describeError } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createS3Store, type S3StoreOptions } from './create-s3-store.js';
import type { ObjectStore } from './object-store.js';
import { probeStore } from './open-object-store.js';
import { coded, objectStoreConformance, optionsFor } from './testing/conformance.js';

function connect(s3: LocalS3, more: Partial<S3StoreOptions> = {}): ObjectStore {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = s3;
  return createS3Store({ endpoint, bucket, credentials: { accessKeyId, secretAccessKey }, ...more });
}

async function use<T>(store: ObjectStore, work: (store: ObjectStore) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

for (const server of S3_SERVERS) {
  describe.skipIf(!s3ServerInstalled(server))(`${server.name} (needs ${server.program})`, () => {
    objectStoreConformance(server.name, {
      verifies: server.verifies,
      compares: server.compares,
      open: async () => {
        const s3 = await startS3Server(server);
        return { store: connect(s3), close: s3.stop };
      },
    });
    describeServer(server);
  });
}

function describeServer(server: S3Server): void {
  let s3: LocalS3;
  beforeAll(async () => {
    s3 = await startS3Server(server);
  });
  afterAll(() => s3.stop());
  const body = randomBytes(50_000);

  it('serves presigned addresses, whole and in part', async () => {
    const address = await use(connect(s3), async (store) => {
      await store.put('net/logs/0-1.json.gz', body, optionsFor(body));
      return String(await store.presign?.('net/logs/0-1.json.gz', 60));
    });
    expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(body)).toBe(true);
    const part = await fetch(address, { headers: { range: 'bytes=5-9' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(body.subarray(5, 10))).toBe(true);
  });

  it('says that there is no such bucket', async () => {
    await use(connect(s3, { bucket: 'another-bucket' }), async (store) => {
      for (const work of [
        () => store.put('a', body, optionsFor(body)),
        () => probeStore(store),
        () => keysOf(store, ''),
      ]) {
        const error: unknown = await work().catch((cause: unknown) => cause);
        expect(error).toEqual(coded('OBJECT_STORE_INVALID'));
        expect(describeError(error)).toMatch(/no such bucket/i);
      }
    });
  });

  it.skipIf(!server.authenticates)(
    'refuses another key and another secret, by name (needs a store that compares)',
    async () => {
      const { accessKeyId, secretAccessKey } = s3;
      for (const [credentials, sentence] of [
        [{ accessKeyId: 'AKIAUNKNOWN', secretAccessKey }, /AWS_ACCESS_KEY_ID|credentials/],
        [{ accessKeyId, secretAccessKey: 'wrong' }, /AWS_SECRET_ACCESS_KEY/],
      ] as const) {
        await use(connect(s3, { credentials }), async (store) => {
          const error: unknown = await store
            .put('a', body, optionsFor(body))
            .catch((cause: unknown) => cause);
          expect(error).toEqual(coded('OBJECT_STORE_INVALID'));
          expect(describeError(error)).toMatch(sentence);
        });
      }
    },
  );

  it.skipIf(!server.authenticates).each([-2, 2])(
    'is written to and read by a machine whose clock is %i hours wrong, which learns its error, and signs addresses by it (needs a store that compares)',
    async (hours) => {
      vi.useFakeTimers({ now: Date.now() + hours * 3_600_000, toFake: ['Date'] });
      try {
        await use(connect(s3), async (store) => {
          await store.put('wrong/clock', body, optionsFor(body));
          expect((await store.read('wrong/clock')).equals(body)).toBe(true);
          expect(await keysOf(store, 'wrong/')).toEqual(['wrong/clock']);
          const answer = await fetch(String(await store.presign?.('wrong/clock', 60)));
          expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
        });
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it.skipIf(!server.versions)(
    'takes objects into a bucket that keeps and locks versions, whose newest are read (needs a store that compares)',
    async () => {
      await makeBucket(s3, 'locked-bucket', true);
      await use(connect(s3, { bucket: 'locked-bucket' }), async (store) => {
        for (const text of ['one', 'two']) {
          const version = Buffer.from(text);
          await store.put('kept', version, optionsFor(version));
          expect((await store.read('kept')).toString()).toBe(text);
        }
        expect(await store.head('kept')).toMatchObject({ size: 3 });
        expect(await keysOf(store, '')).toEqual(['kept']);
        await store.delete('kept');
        expect(await store.head('kept')).toBeNull();
        await expect(store.read('kept')).rejects.toThrow(coded('OBJECT_MISSING'));
        expect(await keysOf(store, '')).toEqual([]);
      });
    },
  );
}

const versityGw = S3_SERVERS.find(({ program }) => program === 'versitygw') as S3Server;

it.skipIf(!s3ServerInstalled(versityGw))(
  'VersityGW that takes two requests at a time gets everything in the end (needs versitygw)',
  async () => {
    const s3 = await startS3Server(versityGw, ['--max-connections', '200', '--max-requests', '2']);
    try {
      await use(connect(s3, { maxAttempts: 10 }), async (store) => {
        const body = randomBytes(200_000);
        const keys = Array.from({ length: 60 }, (_, i) => `throttled/${100 + i}`);
        await Promise.all(keys.map((key) => store.put(key, body, optionsFor(body))));
        expect(await keysOf(store, 'throttled/')).toEqual(keys);
      });
    } finally {
      await s3.stop();
    }
  },
);
