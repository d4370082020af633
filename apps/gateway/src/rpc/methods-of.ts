import type { Network } from '@packhouse/networks';
import type { RpcMethod } from './method.js';
import { EVM_METHODS } from './methods/evm-methods.js';
import { forwarded } from './methods/forwarded.js';

const FAMILIES: Record<Network['family'], readonly RpcMethod[]> = {
  evm: EVM_METHODS,
  core: [],
  cell: [],
  registry: [],
};

/** The methods of a network: those of its family and those that its file adds. */
export function methodsOf({ family, rpc }: Network): ReadonlyMap<string, RpcMethod> {
  // What is added may do anything, so it is asked once.
  const added = rpc.allow.map((name) => forwarded(name, { idempotent: false }));
  return new Map([...added, ...FAMILIES[family]].map((method) => [method.name, method]));
}
