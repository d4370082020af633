import type { Network } from '@packhouse/networks';
import {
  address,
  blockOrHash,
  blockParameter,
  flag,
  hash,
  quantity,
  storagePosition,
} from '../rpc/check-params.js';
import type { RpcMethod } from '../rpc/method.js';
import { createRangeLimit } from '../rpc/split-logs.js';
import { addedMethod } from './added-methods.js';
import { cellMethods } from './cell-methods.js';
import { coreMethods } from './core-methods.js';
import { ethCalls } from './eth-call.js';
import { ethGetLogs } from './eth-get-logs.js';
import { filterMethods, type MethodParts } from './filter-methods.js';
import { blockOfResult, numberOfResult, read, stateRead } from './read-method.js';
import { registryMethods } from './registry-methods.js';
import { sendRawTransaction } from './send-raw-transaction.js';
import { walletMethods } from './wallet-methods.js';

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

const IN_BLOCK = { number: 'blockNumber', hash: 'blockHash', ofBlock: true } as const;

/** Reads that any node answers. */
const READS: readonly RpcMethod[] = [
  read('eth_blockNumber', [], { newest: true }),
  read('eth_chainId', []),
  read('net_version', []),
  read('eth_getBlockByNumber', [blockParameter, flag], {
    blockAt: 0,
    repeats: { number: 'number', ofBlock: true },
    resultBlock: numberOfResult,
  }),
  read('eth_getBlockByHash', [hash, flag], {
    getAbout: numberOfResult,
    repeats: { hash: 'hash', ofBlock: true },
  }),
  read('eth_getBlockReceipts', [blockOrHash], {
    cost: 5,
    ofAllContracts: true,
    blockAt: 0,
    repeats: { ...IN_BLOCK, logs: true },
    listOfBlock: true,
    resultBlock: blockOfResult,
  }),
  read('eth_getTransactionByHash', [hash], { getAbout: blockOfResult, repeats: { hash: 'hash' } }),
  read('eth_getTransactionByBlockNumberAndIndex', [blockParameter, quantity], {
    blockAt: 0,
    repeats: IN_BLOCK,
    resultBlock: blockOfResult,
  }),
  read('eth_getTransactionByBlockHashAndIndex', [hash, quantity], {
    getAbout: blockOfResult,
    repeats: IN_BLOCK,
  }),
  read('eth_getTransactionReceipt', [hash], {
    getAbout: blockOfResult,
    repeats: { hash: 'transactionHash', ofBlock: true, logs: true },
  }),
  stateRead('eth_getStorageAt', [address, storagePosition]),
];

/** The methods of EVM networks. */
function evmMethods(parts: MethodParts): RpcMethod[] {
  const learnt = createRangeLimit(parts.elapsed);
  const getLogs = ethGetLogs(learnt);
  const filters = filterMethods(parts, getLogs, learnt);
  return [...READS, ...walletMethods(), ...ethCalls(), sendRawTransaction(), getLogs, ...filters];
}
