import { describe, expect, it } from 'vitest';
import { parseRestrictions } from './key-restrictions.js';

describe('what a key is restricted to', () => {
  it('is nothing where nothing is given', () => {
    expect(parseRestrictions({})).toEqual({ origins: [], addresses: [], methods: [], contracts: [] });
  });

  it('is kept as browsers and sockets write it, each value once', () => {
    expect(
      parseRestrictions({
        origin: [
          'HTTPS://App.Example.com:443/,*.example.org',
          'http://localhost:3000',
          'https://app.example.com',
        ],
        address: ['10.0.0.0/8, 203.0.113.7', '2001:DB8::/32'],
        method: ['eth_call,eth_getLogs', 'bundle-api', 'download,nft'],
        contract: [
          '0xdAC17F958D2ee523a2206206994597C13D831ec7',
          `0x${'AB'.repeat(20)}, 0x${'ab'.repeat(20)}`,
        ],
      }),
    ).toEqual({
      origins: ['https://app.example.com', '*.example.org', 'http://localhost:3000'],
      addresses: ['10.0.0.0/8', '203.0.113.7', '2001:db8::/32'],
      methods: ['eth_call', 'eth_getLogs', 'bundle-api', 'download', 'nft'],
      contracts: ['0xdac17f958d2ee523a2206206994597c13d831ec7', `0x${'ab'.repeat(20)}`],
    });
  });

  it.each([
    '',
    '*',
    'https://',
    'https://a/b',
    'ftp://a',
    'a b',
    'https://*',
    'a.*.b',
    'null?',
    'https://a:0',
  ])('refuses the origin %j', (origin) => {
    expect(() => parseRestrictions({ origin: [origin] })).toThrow(/--origin cannot be/);
  });

  it.each(['', 'localhost', '10.0.0.0/33', '::/129', '1.2.3', '1.2.3.4/', '1.2.3.4/8/8', 'fe80::1%eth0'])(
    'refuses the address %j',
    (address) => {
      expect(() => parseRestrictions({ address: [address] })).toThrow(/--address cannot be/);
    },
  );

  it.each(['', 'eth call', 'eth_*', 'x'.repeat(65)])('refuses the method %j', (method) => {
    expect(() => parseRestrictions({ method: [method] })).toThrow(/--method cannot be/);
  });

  it.each([
    '',
    '0x',
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    'a'.repeat(40),
    `0x${'g'.repeat(40)}`,
    'vitalik.eth',
  ])('refuses the contract %j', (contract) => {
    expect(() => parseRestrictions({ contract: [contract] })).toThrow(/--contract cannot be/);
  });

  it('refuses more values than anybody needs', () => {
    const address = Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`);
    expect(() => parseRestrictions({ address })).toThrow(/at most 100 values, got 101/);
  });
});
