import { describe, expect, it } from 'vitest';
import {
  allowsOrigin,
  isRestricted,
  requireAllowedClient,
  requireMethod,
  requireRoute,
} from './key-restrictions.js';

const row = (
  only: { origins?: string[]; addresses?: string[]; methods?: string[]; contracts?: string[] } = {},
) => ({
  origins: [],
  addresses: [],
  methods: [],
  contracts: [],
  ...only,
});

describe('the restrictions of a key', () => {
  it('are none where none were given', () => {
    expect(isRestricted(row())).toBe(false);
    requireAllowedClient(row(), { origin: undefined, address: '' });
    requireMethod(row(), 'eth_call');
    requireRoute(row(), 'anything');
    for (const one of [
      { origins: ['a.b'] },
      { addresses: ['::1'] },
      { methods: ['nft'] },
      { contracts: ['0x'] },
    ]) {
      expect(isRestricted(row(one))).toBe(true);
    }
  });

  it.each([
    ['https://app.example.com', 'https://app.example.com', true],
    ['https://app.example.com', 'https://APP.example.com', true],
    ['https://app.example.com', 'http://app.example.com', false],
    ['https://app.example.com', 'https://app.example.com:8443', false],
    ['https://app.example.com', 'https://app.example.com.evil.org', false],
    ['https://app.example.com', 'https://evil.org/https://app.example.com', false],
    ['https://app.example.com', 'https://app.example.com@evil.org', false],
    ['app.example.com', 'http://app.example.com', true],
    ['app.example.com', 'https://app.example.com', true],
    ['*.example.com', 'https://a.b.example.com', true],
    ['*.example.com', 'https://example.com', false],
    ['*.example.com', 'https://.example.com', false],
    ['*.example.com', 'https://evilexample.com', false],
    ['https://*.example.com:3000', 'https://a.example.com:3000', true],
    ['https://*.example.com:3000', 'https://a.example.com', false],
    ['http://localhost:3000', 'http://localhost:3000', true],
    ['app.example.com', 'null', false],
    ['app.example.com', undefined, false],
  ])('by origin: %s and %s: %s', (pattern, origin, fits) => {
    expect(allowsOrigin(row({ origins: [pattern] }), origin)).toBe(fits);
  });

  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.70', false],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['0.0.0.0/0', '::1', false],
    ['10.0.0.0/8', 'unknown', false],
    ['nonsense', '10.0.0.1', false],
  ])('by address: %s and %s: %s', (block, address, fits) => {
    const only = row({ addresses: [block] });
    const refuse = () => requireAllowedClient(only, { origin: undefined, address });
    if (fits) refuse();
    else expect(refuse).toThrow('This API key may not be used from this address.');
  });

  it('by method, in any spelling, and by route, where one that is not known is not included', () => {
    const only = row({ methods: ['core_getLogs', 'bundle-api'] });
    requireMethod(only, 'core_getLogs', 'cfx_getLogs');
    requireRoute(only, 'pointer');
    requireRoute(only, 'coverage');
    expect(() => requireMethod(only, 'eth_call')).toThrow('This API key does not allow this method.');
    for (const route of ['download', 'nft', 'new', '']) expect(() => requireRoute(only, route)).toThrow();
  });

  it('say in a refusal nothing of what would do', () => {
    const only = row({ origins: ['https://secret.example'], addresses: ['10.1.2.3'], methods: ['eth_call'] });
    for (const refuse of [
      () => requireAllowedClient(only, { origin: undefined, address: '10.1.2.3' }),
      () => requireAllowedClient(only, { origin: 'https://secret.example', address: '::1' }),
      () => requireMethod(only, 'eth_getLogs'),
    ]) {
      expect(refuse).toThrow(/^(?!.*(secret|10\.1|eth_call))/);
    }
  });
});
