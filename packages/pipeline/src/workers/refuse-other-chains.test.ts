import type { Database } from '@packhouse/database';
import { type Network, parseNetworks } from '@packhouse/networks';
import { expect, test } from 'vitest';
import { refuseOtherChains } from './refuse-other-chains.js';

const database = { networks: { list: async () => [{ id: 'main', chainId: 1 }] } } as unknown as Database;
const getNetworks = (id: string, chainId: number, family = 'evm'): Network[] => {
  const upstreams = [{ url: 'http://127.0.0.1:9' }];
  return parseNetworks(JSON.stringify({ networks: [{ id, family, chainId, upstreams }] }), {
    source: 'test',
    env: {},
  });
};

test('another chain under a stored name is refused, also when the name was out of the file meanwhile', async () => {
  const changed = getNetworks('main', 5);
  await expect(refuseOtherChains(database, changed, [{ network: 'main', change: 'added' }])).rejects.toThrow(
    'Network "main" is given with chain id 5, and what is stored of it is of chain id 1.',
  );
});

test('another family under a stored name is refused', async () => {
  await expect(
    refuseOtherChains(database, getNetworks('main', 1, 'core'), [
      { network: 'main', change: 'changed', fields: ['family', 'rpc'] },
    ]),
  ).rejects.toMatchObject({ code: 'NODE_WRONG_CHAIN', data: { network: 'main', expected: 1, got: 1 } });
});

test('what is not stored may become another chain, and a stored one may change in all else', async () => {
  await refuseOtherChains(database, getNetworks('side', 5, 'core'), [
    { network: 'side', change: 'changed', fields: ['chainId', 'family'] },
  ]);
  await refuseOtherChains(database, getNetworks('main', 1), [
    { network: 'main', change: 'changed', fields: ['bundles.maxBlocks'] },
  ]);
});
