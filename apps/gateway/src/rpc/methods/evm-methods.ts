import type { Prepared, RpcMethod } from '../method.js';
import {
  address,
  blockNumberOf,
  blockOrHash,
  blockParameter,
  type Check,
  checkParams,
  flag,
  hash,
  quantity,
  storagePosition,
} from '../params/check-params.js';
import { logFilter } from '../params/log-filter.js';
import { ethCall } from './eth-call.js';

/** A read whose parameters are checked here, so that a client's mistake costs no node anything. */
function read(
  name: string,
  checks: readonly Check[],
  more: { cost?: number; blockAt?: number } = {},
): RpcMethod {
  const { cost = 1, blockAt } = more;
  return {
    name,
    cost,
    idempotent: true,
    prepare(params): Prepared | undefined {
      checkParams(params, checks);
      const block = blockAt === undefined ? undefined : blockNumberOf(params[blockAt]);
      return block === undefined ? undefined : { block };
    },
  };
}

/** Nodes older than geth 1.13 want the block, which clients leave out. */
const storageAt: RpcMethod = {
  name: 'eth_getStorageAt',
  cost: 1,
  idempotent: true,
  prepare(params): Prepared {
    checkParams(params, [address, storagePosition, blockOrHash], 2);
    const block = blockNumberOf(params[2]);
    return {
      params: JSON.stringify([params[0], params[1], params[2] ?? 'latest']),
      ...(block === undefined ? {} : { block }),
    };
  },
};

/** What EVM networks offer (service specification 4.3, and what every client library calls first). */
export const EVM_METHODS: readonly RpcMethod[] = [
  read('eth_blockNumber', []),
  read('eth_chainId', []),
  read('net_version', []),
  read('eth_getBlockByNumber', [blockParameter, flag], { blockAt: 0 }),
  read('eth_getBlockByHash', [hash, flag]),
  read('eth_getBlockReceipts', [blockOrHash], { cost: 5, blockAt: 0 }),
  read('eth_getTransactionByHash', [hash]),
  read('eth_getTransactionByBlockNumberAndIndex', [blockParameter, quantity], { blockAt: 0 }),
  read('eth_getTransactionByBlockHashAndIndex', [hash, quantity]),
  read('eth_getTransactionReceipt', [hash]),
  storageAt,
  ethCall,
  read('eth_getLogs', [logFilter], { cost: 5 }),
];
