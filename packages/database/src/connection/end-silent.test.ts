import { startStallingProxy } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { createConnections, statement } from './connections.js';
import { copyIn, createCopyEncoder } from './copy.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const one = statement('test/one', 'SELECT 1 AS one');
const asleep = statement('test/asleep', 'SELECT pg_sleep(1.5)');

/** A pool behind a proxy; silence is a fifth of a second. */
async function behindProxy() {
  const proxy = await startStallingProxy(open.url);
  const connections = createConnections({
    connectionString: proxy.url,
    context: silentContext(),
    applicationName: 'packhouse silent',
    silence: { silentMs: 200, everyMs: 50 },
  });
  return {
    proxy,
    connections,
    close: async () => {
      await connections.close();
      await proxy.close();
    },
  };
}

describe('a connection on which nothing arrives any more', () => {
  it.each(['requests', 'answers'] as const)('ends if the %s are lost, and the next goes on', async (what) => {
    const { proxy, connections, close } = await behindProxy();
    await connections.query(one, []);
    proxy.lose(what);
    await expect(connections.query(one, [])).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('lost on the way'),
    });
    expect(await connections.query(one, [])).toEqual([{ one: 1 }]);
    await close();
  });

  it('ends in the middle of a COPY, whose locks are free again', async () => {
    const { proxy, connections, close } = await behindProxy();
    await open.sql('CREATE TABLE packhouse.copied (body bytea)');
    const copying = connections.transaction(async ({ client, query }) => {
      await query(statement('test/lock', 'SELECT pg_advisory_xact_lock(7)'), []);
      proxy.lose('requests');
      const encoder = createCopyEncoder();
      for (let row = 0; row < 100; row += 1) {
        encoder.row(1);
        encoder.bytes(Buffer.alloc(100_000));
      }
      await copyIn(client, 'COPY packhouse.copied FROM STDIN (FORMAT binary)', encoder.finish());
    });
    await expect(copying).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await open.sql('SELECT pg_advisory_lock(7)');
    await open.sql('DROP TABLE packhouse.copied');
    await close();
  });

  it('is kept while Postgres works on its statement, however long, or cannot be asked', async () => {
    const { proxy, connections, close } = await behindProxy();
    const slow = connections.query(asleep, []);
    expect(await slow).toHaveLength(1);
    const other = connections.query(asleep, []);
    await expect
      .poll(() =>
        open.sql(`SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(1.5)' AND state = 'active'`),
      )
      .toHaveLength(1);
    proxy.stall();
    await open.sql('SELECT pg_sleep(1)');
    proxy.resume();
    expect(await other).toHaveLength(1);
    await close();
  });
});
