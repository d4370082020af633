import type { Network } from '@packhouse/networks';
import type { RpcMethod } from '../rpc/method.js';
import { addedMethod } from './added-methods.js';
import { cellMethods } from './cell-methods.js';
import { coreMethods } from './core-methods.js';
import { evmMethods } from './evm-methods.js';
import type { MethodParts } from './filter-methods.js';
import { registryMethods } from './registry-methods.js';

const FAMILIES: Record<Network['family'], (parts: MethodParts) => readonly RpcMethod[]> = {
  evm: evmMethods,
  core: coreMethods,
  cell: cellMethods,
  registry: registryMethods,
};

/** The methods of a network: those of its family and its profile, and those that the networks file adds, at its costs. */
export function createMethods({ family, rpc }: Network, parts: MethodParts): ReadonlyMap<string, RpcMethod> {
  const added = rpc.allow.map(addedMethod);
  const ours = FAMILIES[family](parts).filter(
    ({ name, unlessStrict, ifAllowed }) =>
      rpc.allow.includes(name) || !(ifAllowed || (unlessStrict && rpc.profile === 'strict')),
  );
  return new Map(
    [...added, ...ours].map((method) => {
      // A method may have a name that every object has: constructor.
      const cost = Object.hasOwn(rpc.costs, method.name) ? rpc.costs[method.name] : undefined;
      return [method.name, cost === undefined ? method : { ...method, cost }];
    }),
  );
}
