import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@packhouse/local';
import type { Network } from '@packhouse/networks';
import { type FilledIndex, fillIndex } from './fill-index.js';
import { type GatewayProcess, startGateway } from './gateway-process.js';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace, type Place } from './place.js';

/** No durability: the data is discarded after the run. */
export const FAST_LOAD = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '16GB',
  shared_buffers: '1GB',
};

/** A place whose network has a filled range index, and no node. */
interface FilledPlace {
  place: Place;
  network: Network;
  index: FilledIndex;
  /** Starts a gateway over it. */
  startGateway(parts?: { workers?: number; env?: Readonly<Record<string, string>> }): Promise<GatewayProcess>;
}

/** Opens it; with `gapEvery` one bundle is left out after each so many. */
export async function openFilledPlace(
  scope: Scope,
  { rows, say, gapEvery = 0 }: Pick<BenchOptions, 'rows' | 'say'> & { gapEvery?: number },
): Promise<FilledPlace> {
  const place = await openPlace(scope, FAST_LOAD);
  const { network, file: networksFile } = oneNetwork('http://127.0.0.1:1');
  await place.database.networks.register({ id: network.id, chainId: network.chainId });
  say(`  filling the range index with ${rows.toLocaleString('en-US')} rows …`);
  const index = await fillIndex(place.url, network.id, rows, { gapEvery });
  say(`  filled in ${index.seconds.toFixed(0)} s, ${(index.diskBytes / 1e9).toFixed(1)} GB`);
  return {
    place,
    network,
    index,
    async startGateway(parts = {}) {
      const objects = path.join(place.directory, 'objects');
      await mkdir(objects, { recursive: true });
      return startGateway(scope, place, { networksFile, objects, ...parts });
    },
  };
}
