import path from 'node:path';
import type { Scope } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { startNode } from '@packhouse/rig';
import { startGateway } from './gateway-process.js';
import { openPlace } from './place.js';

/** Starts a node with ready answers, and a gateway with so many workers before it. */
export async function openSides(scope: Scope, workers = 1) {
  const place = await openPlace(scope);
  const node = await startNode(scope, 'test/bench/dist/ready-node.js').firstLine();
  const networksFile = JSON.stringify({
    networks: [{ id: 'ethereum', family: 'evm', chainId: 1, upstreams: [{ url: node, maxInFlight: 1_000 }] }],
  });
  for (const { id, chainId } of parseNetworks(networksFile, { source: 'bench', env: {} })) {
    await place.database.networks.register({ id, chainId });
  }
  const objects = path.join(place.directory, 'objects');
  const gateway = await startGateway(scope, place, {
    networksFile,
    objects,
    workers,
    // Connections of one load may still be counted when the next begins.
    env: { CONNECTIONS_PER_ADDRESS: '2000' },
  });
  return { directory: place.directory, gateway, node };
}
