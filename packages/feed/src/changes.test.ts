import { redisInstalled, startRedis } from '@packhouse/local';
import { createNoticeSender } from '@packhouse/pipeline';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createChangeSource } from './changes.js';
import { makeContext } from './testing/feed-world.js';

const WAIT = { timeout: 20_000 };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.runIf(redisInstalled())('changes over Redis (needs redis-server)', () => {
  it('are heard by network, and that some may be lost while it is away', async () => {
    const server = await startRedis();
    closing.push(() => server.stop());
    const context = makeContext();
    const database = { listen: () => expect.unreachable('Postgres is not used') };
    const source = createChangeSource({ context, database, redisUrl: server.url });
    const sender = createNoticeSender(context, server.url);
    closing.push(
      () => source.close(),
      () => sender?.close(),
    );
    const heard: unknown[] = [];
    const hears: boolean[] = [];
    source.listen('main', {
      changed: (range) => void heard.push(range),
      lost: (now) => void hears.push(now),
    });
    await vi.waitUntil(() => hears.at(-1) === true, WAIT);
    await sender?.send(
      JSON.stringify([
        ['other', 1, 2],
        ['main', 3, 4],
      ]),
    );
    await vi.waitUntil(() => heard.length > 0, WAIT);
    expect(heard).toEqual([{ firstBlock: 3, lastBlock: 4 }]);
    await server.stop();
    await vi.waitUntil(() => hears.at(-1) === false, WAIT);
    await expect(sender?.send('[]')).rejects.toThrow();
  });
});
