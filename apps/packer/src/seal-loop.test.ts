import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { createDiskStore } from '@packhouse/object-store';
import { createLogStore, openSigners } from '@packhouse/pipeline';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect, inject, test } from 'vitest';
import { sealLoop } from './seal-loop.js';

const logger = createLogger({ name: 'test', level: 'silent' });

test('what waits for its entry is signed though nothing is packed, by one of two packers, again and again', async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-packer-'));
  const running = new AbortController();
  const context: Context = {
    logger,
    metrics: createMetrics(),
    // Looks come as fast as they can; the loop's own pause is not waited for.
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(20, signal) },
    signal: running.signal,
  };
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  const signers = await openSigners({ context, database, file: path.join(directory, 'signing-key.pem') });
  await database.networks.register({ id: 'main', chainId: 1 });
  const main = database.network('main');
  const publish = (firstBlock: number): Promise<unknown> =>
    main.bundles.publish({
      kind: 'logs',
      firstBlock,
      lastBlock: firstBlock,
      objectKey: `main/logs/${firstBlock}-${firstBlock}.json.gz`,
      byteLength: 40,
      rawLength: 4,
      sha256: 'ab'.repeat(32),
      firstHash: `0x${'22'.repeat(32)}`,
      firstParentHash: `0x${'11'.repeat(32)}`,
      lastHash: `0x${'22'.repeat(32)}`,
      proofs: [],
      fragments: [{ firstBlock, lastBlock: firstBlock, byteLength: 8, rawLength: 2, crc32: 1 }],
      formatVersion: 1,
    });
  const signed = async (): Promise<number[]> =>
    (await main.manifest.entries('logs', -1, 10)).map((entry) => entry.from);

  await publish(7);
  expect(await database.manifest.pending()).toEqual([{ network: 'main', kind: 'logs', entries: 1 }]);
  const objectStore = await createDiskStore({ directory: path.join(directory, 'objects') });
  const logs = createLogStore({ context, database, objectStore });
  const loops = [1, 2].map(() => sealLoop({ context, database, objectStore, signers, logs }));
  await expect.poll(signed, { timeout: 60_000 }).toEqual([7]);
  await publish(8);
  await expect.poll(signed, { timeout: 60_000 }).toEqual([7, 8]);
  expect(await database.manifest.pending()).toEqual([]);
  await expect.poll(() => database.manifest.unstored(), { timeout: 60_000 }).toEqual([]);

  running.abort(new Error('told to end'));
  await Promise.all(loops);
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});
