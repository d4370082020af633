import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflatePiece, filterKey, fragmentOf, spliceMember } from '@packhouse/bundle';
import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { createDiskStore } from '@packhouse/object-store';
import { openSigners } from '@packhouse/pipeline';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect, inject, test } from 'vitest';
import { filterLoop } from './filter-loop.js';

test('bundles without a filter get theirs, by one of two packers, until they are told to end', async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-packer-'));
  const running = new AbortController();
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    // Looks come as fast as they can; the loop's own pause is not waited for.
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(20, signal) },
    signal: running.signal,
  };
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  const signers = await openSigners({ context, database, file: path.join(directory, 'signing-key.pem') });
  const objectStore = await createDiskStore({ directory: path.join(directory, 'objects') });
  const upstreams = [{ name: 'node', url: 'http://127.0.0.1:1', priority: 1 }];
  const file = { networks: [{ id: 'main', family: 'evm', chainId: 1, upstreams }] };
  const networks = parseNetworks(JSON.stringify(file), { source: 'test', env: {} });
  await database.networks.register({ id: 'main', chainId: 1 });
  const main = database.network('main');
  const publish = async (start: number): Promise<string> => {
    const fragment = fragmentOf({ start, end: start }, await deflatePiece(Buffer.from('[]')));
    const { chunks, byteLength, rawLength } = spliceMember([fragment], [fragment.body]);
    const bytes = Buffer.concat(chunks);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const objectKey = `main/logs/${start}-${start}.json.gz`;
    await objectStore.put(objectKey, bytes, { sha256, contentType: 'application/gzip', metadata: {} });
    await main.bundles.publish({
      ...{ kind: 'logs', start, end: start, objectKey, byteLength, rawLength, sha256 },
      firstHash: `0x${'22'.repeat(32)}`,
      firstParentHash: `0x${'11'.repeat(32)}`,
      lastHash: `0x${'22'.repeat(32)}`,
      ...{ proofs: [], fragments: [fragment], formatVersion: 1 },
    });
    return filterKey(objectKey);
  };
  const missing = async (): Promise<number> =>
    (await main.bundleFilters.of('logs', { start: 0, end: 9 }, 10)).filter(({ filter }) => filter === null)
      .length;

  const first = await publish(7);
  const loops = [1, 2].map(() =>
    filterLoop({ context, database, objectStore, networks: () => networks, signers }),
  );
  await expect.poll(missing, { timeout: 60_000 }).toBe(0);
  // An older packer is still at work.
  const second = await publish(8);
  await expect.poll(missing, { timeout: 60_000 }).toBe(0);
  for (const key of [first, second]) expect((await objectStore.read(key)).length).toBe(16 + 72);

  running.abort(new Error('told to end'));
  await Promise.all(loops);
  await objectStore.close();
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});
