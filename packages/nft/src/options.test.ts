import { loadSettings } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { nftSettings, toNftOptions } from './options.js';

const read = (env: Record<string, string>) => toNftOptions(loadSettings(z.object(nftSettings), env));

it('asks public gateways and no http: unless it is told otherwise', () => {
  expect(read({})).toEqual({
    allowHttp: false,
    ipfsGateways: ['https://ipfs.io/ipfs/'],
    arweaveGateways: ['https://arweave.net/'],
  });
  expect(
    read({
      NFT_IPFS_GATEWAY: 'https://one.example/ipfs/, http://two.example/',
      NFT_ARWEAVE_GATEWAY: 'https://ar.example/',
      NFT_ALLOW_HTTP: 'true',
    }),
  ).toEqual({
    allowHttp: true,
    ipfsGateways: ['https://one.example/ipfs/', 'http://two.example/'],
    arweaveGateways: ['https://ar.example/'],
  });
});

it.each([
  ['NFT_IPFS_GATEWAY', 'https://one.example/ipfs'],
  ['NFT_IPFS_GATEWAY', 'https://one.example:8080/ipfs/'],
  ['NFT_IPFS_GATEWAY', 'https://one.example/?cid=/'],
  ['NFT_ARWEAVE_GATEWAY', 'https://user:word@ar.example/'],
  ['NFT_ALLOW_HTTP', 'yes'],
])('%s=%s is refused by name', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(name);
});
