import type { Network } from '@packhouse/networks';
import type { MethodParts, RpcMethod } from './method.js';
import { cellMethods } from './methods/cell-methods.js';
import { coreMethods } from './methods/core-methods.js';
import { evmMethods } from './methods/evm-methods.js';
import { forwarded } from './methods/forwarded.js';
import { registryMethods } from './methods/registry-methods.js';

const FAMILIES: Record<Network['family'], (parts: MethodParts) => readonly RpcMethod[]> = {
  evm: evmMethods,
  core: coreMethods,
  cell: cellMethods,
  registry: registryMethods,
};

/** The methods of a network: those of its family and those that its file adds. */
export function methodsOf({ family, rpc }: Network, parts: MethodParts): ReadonlyMap<string, RpcMethod> {
  // What is added may do anything, so it is asked once.
  const added = rpc.allow.map((name) => forwarded(name, { idempotent: false }));
  return new Map([...added, ...FAMILIES[family](parts)].map((method) => [method.name, method]));
}
