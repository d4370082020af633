import { createDatabase } from '@packhouse/database';
import { type StallingProxy, startStallingProxy } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

describe('while Postgres hangs, with all its connections open', () => {
  let at: TestGateway;
  let proxy: StallingProxy;
  let close: () => Promise<void>;
  let key: string;
  beforeAll(async () => {
    at = await startTestGateway({}, async (url, context) => {
      proxy = await startStallingProxy(url);
      const database = createDatabase({
        connectionString: proxy.url,
        context,
        applicationName: 'gateway behind a proxy',
        limits: { connectMs: 300, statementMs: 300 },
      });
      close = () => database.close();
      return database;
    });
    ({ key } = await at.makeKey());
    await at.stage(10, 19);
    await at.publish(10, 19);
  });
  afterAll(async () => {
    proxy.resume();
    await at.close();
    await close();
    await proxy.close();
  });

  const download = (block = 15) => ask(at.url, `/ethereum/v1/${key}/bundle-api/blocks/${block}`);

  it('requests fail with 503 and Retry-After, readiness says so, and all goes on when it does', async () => {
    // On a slow machine a statement may take longer than it may here.
    await expect.poll(async () => (await download()).status).toBe(200);
    proxy.stall();
    at.time.offset += 60_000;
    const answers = await Promise.all(Array.from({ length: 30 }, () => download()));
    for (const { status, headers, json } of answers) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('5');
      expect(json()).toMatchObject({ reason: 'unavailable' });
    }
    const ready = await ask(at.url, '/readyz');
    expect([ready.status, ready.json().database]).toEqual([503, false]);
    proxy.resume();
    at.time.offset += 60_000;
    await expect.poll(async () => (await download()).status).toBe(200);
    at.time.offset += 60_000;
    await expect.poll(async () => (await ask(at.url, '/readyz')).status).toBe(200);
    // Nobody waits, and nothing is held.
    await expect
      .poll(() => at.context.metrics.render())
      .toMatch(/packhouse_database_connections\{state="waiting"\} 0/);
  });
});
