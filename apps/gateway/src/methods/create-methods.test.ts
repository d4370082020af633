import type { Network } from '@packhouse/networks';
import { METHODS_OF_FAMILY, WALLET_METHODS } from '@packhouse/networks';
import { expect, it } from 'vitest';
import { createMethods } from './create-methods.js';
import type { MethodParts } from './filter-methods.js';

function getNames(family: Network['family'], rpc: Partial<Network['rpc']>): string[] {
  const network = { family, rpc: { allow: [], costs: {}, profile: 'wallets', ...rpc } } as unknown as Network;
  return [...createMethods(network, {} as MethodParts).keys()].sort();
}

it.each(['evm', 'core', 'cell', 'registry'] as const)(
  'the table has the methods of the family %s',
  (family) => {
    expect([...METHODS_OF_FAMILY[family]].sort()).toEqual(getNames(family, { profile: 'strict' }));
  },
);

it('an EVM network offers what wallets ask first, unless it is strict', () => {
  const strict = METHODS_OF_FAMILY.evm;
  expect(getNames('evm', {})).toEqual([...strict, ...WALLET_METHODS].sort());
  const allow = ['eth_getCode', 'eth_other'];
  expect(getNames('evm', { profile: 'strict', allow })).toEqual([...strict, ...allow].sort());
});

it('costs of the networks file replace those of the table, of added methods too', () => {
  const costs = { eth_getLogs: 20, eth_chainId: 0, eth_other: 7 };
  const network = {
    family: 'evm',
    rpc: { allow: ['eth_other', 'constructor'], costs, profile: 'wallets' },
  } as unknown as Network;
  const methods = createMethods(network, {} as MethodParts);
  const cost = (name: string) => methods.get(name)?.cost;
  expect(['eth_getLogs', 'eth_chainId', 'eth_other'].map(cost)).toEqual([20, 0, 7]);
  expect(['eth_call', 'constructor'].map(cost)).toEqual([2, 1]);
});
