import { randomBytes } from 'node:crypto';
import { createDatabase } from '@packhouse/database';
import { freshDatabase, type LocalRedis, redisInstalled, startRedis } from '@packhouse/local';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { connectRedis } from '../access/connect-redis.js';
import { createSharedAnswers } from '../cache/answer-cache.js';
import { createRedisFilterStore } from './create-redis-filter-store.js';
import type { FilterStore } from './filter-state.js';

const WAIT = { timeout: 60_000 };
const context = {
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};

/** One store as two gateways open it. */
interface Opened {
  one: FilterStore;
  other: FilterStore;
  close(): Promise<void>;
}

async function openPostgres(): Promise<Opened> {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const [one, other] = [1, 2].map((n) =>
    createDatabase({ connectionString: fresh.url, context, applicationName: `filters ${n}` }),
  );
  if (one === undefined || other === undefined) throw new Error('unreachable');
  return {
    one: one.filters,
    other: other.filters,
    async close() {
      await one.close();
      await other.close();
      await fresh.drop();
    },
  };
}

async function openRedis(): Promise<Opened> {
  const server = await startRedis();
  const clients = [connectRedis(server.url, context), connectRedis(server.url, context)];
  await vi.waitFor(() => expect(clients.map(({ status }) => status)).toEqual(['ready', 'ready']), WAIT);
  const [one, other] = clients.map(createRedisFilterStore);
  return {
    one: one as FilterStore,
    other: other as FilterStore,
    async close() {
      for (const client of clients) client.disconnect();
      await server.stop();
    },
  };
}

const STORES: { name: string; open: () => Promise<Opened>; able: boolean }[] = [
  { name: 'Postgres', open: openPostgres, able: true },
  { name: 'Redis (needs redis-server)', open: openRedis, able: redisInstalled() },
];

describe.for(STORES)('filters on $name', ({ open, able }) => {
  describe.skipIf(!able)('for all gateways', () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open();
    }, 60_000);
    afterAll(() => opened.close());

    const made = async (keyId: number, { ttlMs = 60_000, maxOfKey = 100, network = 'main' } = {}) => {
      const id = randomBytes(16);
      const ok = await opened.one.create({ id, network, keyId, state: 'first', ttlMs, maxOfKey });
      return { id, ok };
    };

    it('is there for every gateway until it expires', async () => {
      const { id } = await made(1);
      expect(await opened.other.get(id)).toEqual({ network: 'main', keyId: 1, state: 'first', version: 1 });
      const { id: short } = await made(1, { ttlMs: 50 });
      await vi.waitFor(async () => expect(await opened.other.get(short)).toBeNull(), WAIT);
      expect(await opened.one.update({ id: short, version: 1, state: 'late', ttlMs: 60_000 })).toBeNull();
      await opened.one.sweep();
      expect(await opened.other.get(randomBytes(16))).toBeNull();
    });

    it('lives on when it is written', async () => {
      const { id } = await made(2, { ttlMs: 30_000 });
      expect(await opened.one.update({ id, version: 1, state: '{"é":1}', ttlMs: 60_000 })).toBe(2);
      expect(await opened.other.get(id)).toMatchObject({ state: '{"é":1}', version: 2 });
    });

    it('is changed by whoever saw it last, and by nobody else', async () => {
      const { id } = await made(3);
      const writes = ['a', 'b', 'c', 'd'].map((state, at) =>
        (at % 2 === 0 ? opened.one : opened.other).update({ id, version: 1, state, ttlMs: 60_000 }),
      );
      expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
      expect(await opened.one.get(id)).toMatchObject({ version: 2 });
    });

    it('is removed by its own key on its own network only', async () => {
      const { id } = await made(4);
      expect(await opened.one.remove({ id, network: 'main', keyId: 5 })).toBe(false);
      expect(await opened.one.remove({ id, network: 'other', keyId: 4 })).toBe(false);
      expect(await opened.other.remove({ id, network: 'main', keyId: 4 })).toBe(true);
      expect(await opened.one.remove({ id, network: 'main', keyId: 4 })).toBe(false);
      expect(await opened.one.update({ id, version: 1, state: 'x', ttlMs: 60_000 })).toBeNull();
    });

    it('a key has so many and no more, and another one when one is gone', async () => {
      const { id } = await made(9, { maxOfKey: 2 });
      expect((await made(9, { maxOfKey: 2, ttlMs: 50 })).ok).toBe(true);
      await vi.waitFor(async () => expect((await made(9, { maxOfKey: 2 })).ok).toBe(true), WAIT);
      expect((await made(9, { maxOfKey: 2 })).ok).toBe(false);
      expect((await made(10, { maxOfKey: 2 })).ok).toBe(true);
      await opened.one.remove({ id, network: 'main', keyId: 9 });
      expect((await made(9, { maxOfKey: 2 })).ok).toBe(true);
    });

    it('counts those that live, by network', async () => {
      await made(11, { network: 'counted' });
      const { id } = await made(12, { network: 'counted' });
      expect((await opened.other.count()).get('counted')).toBe(2);
      await opened.other.remove({ id, network: 'counted', keyId: 12 });
      expect((await opened.other.count()).get('counted')).toBe(1);
    });

    it('numbers waiting transactions once, in the order in which they were seen', async () => {
      const { one, other } = opened;
      const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
      expect(await one.newestPending('main')).toBe(0);
      await one.addPending('main', [hash(3), hash(1)]);
      await one.addPending('main', [hash(1), hash(2), hash(3)]);
      await one.addPending('other', [hash(1)]);
      const first = await other.pendingAfter('main', 0, 2);
      expect(first.hashes).toEqual([hash(3), hash(1)]);
      expect((await other.pendingAfter('main', first.sequence, 10)).hashes).toEqual([hash(2)]);
      const newest = await other.newestPending('main');
      expect(await other.pendingAfter('main', newest, 10)).toEqual({ hashes: [], sequence: newest });
    });
  });
});

describe.skipIf(!redisInstalled())('while Redis is away (needs redis-server)', () => {
  let server: LocalRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it('a filter is not said to be gone, and answers are as if nobody had kept them', async () => {
    const redis = connectRedis(server.url, context);
    await vi.waitFor(() => expect(redis.status).toBe('ready'), WAIT);
    const [filters, answers] = [createRedisFilterStore(redis), createSharedAnswers(redis)];
    const id = randomBytes(16);
    await filters.create({ id, network: 'main', keyId: 1, state: 's', ttlMs: 60_000, maxOfKey: 9 });
    answers.set('main 1 m []', Buffer.from([0x22, 0xc3, 0xa9, 0xff, 0x22]));
    answers.set('large', Buffer.alloc(1_000_000, '1'));
    await vi.waitFor(
      async () =>
        expect(await answers.get('main 1 m []')).toEqual(Buffer.from([0x22, 0xc3, 0xa9, 0xff, 0x22])),
      WAIT,
    );
    expect(await answers.get('large')).toBeUndefined();

    await server.stop();
    await vi.waitFor(() => expect(redis.status).not.toBe('ready'), WAIT);
    await expect(filters.get(id)).rejects.toMatchObject({ reason: 'unavailable', status: 503 });
    expect(await answers.get('main 1 m []')).toBeUndefined();
    answers.set('main 1 m []', Buffer.from('1'));
    redis.disconnect();
  });
});
