import type { Network } from '@packhouse/networks';
import { describe, expect, it } from 'vitest';
import { serveNetworks } from './served-network.js';

const network = (over: Partial<Network>) => ({ id: 'ethereum', ...over }) as Network;

describe('the addresses of a network', () => {
  it('are below the public address where the networks file names none', () => {
    const [served] = serveNetworks([network({})], 'http://localhost:8080');
    expect(served).toMatchObject({
      baseUrl: 'http://localhost:8080/ethereum/v1/',
      downloadUrl: 'http://localhost:8080/ethereum/files',
      base: { path: '/ethereum/v1' },
      files: { path: '/ethereum/files' },
    });
    expect(served?.base.host).toBeUndefined();
  });

  it('keep the path of a public address that has one', () => {
    const [served] = serveNetworks([network({})], 'https://example.com/data');
    expect(served?.base.path).toBe('/data/ethereum/v1');
  });

  it('are told apart by host name where the networks file names one', () => {
    const [served] = serveNetworks(
      [network({ baseUrl: 'https://Eth.example.com/v1/', downloadUrl: 'https://files.example.com:8443' })],
      'https://example.com',
    );
    expect(served?.base).toEqual({ host: 'eth.example.com', path: '/v1' });
    expect(served?.files).toEqual({ host: 'files.example.com', path: '' });
  });

  it('need no host name where it is the public one', () => {
    const [served] = serveNetworks(
      [network({ baseUrl: 'https://example.com/eth/v1/' })],
      'https://example.com',
    );
    expect(served?.base).toEqual({ path: '/eth/v1' });
  });
});
