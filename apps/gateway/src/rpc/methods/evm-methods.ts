import type { RpcMethod } from '../method.js';
import { forwarded } from './forwarded.js';

/** What EVM networks offer (service specification 4.3, and what every client library calls first). */
export const EVM_METHODS: readonly RpcMethod[] = [
  forwarded('eth_blockNumber'),
  forwarded('eth_chainId'),
  forwarded('net_version'),
  forwarded('eth_getBlockByNumber'),
  forwarded('eth_getBlockByHash'),
  forwarded('eth_getBlockReceipts', { cost: 5 }),
  forwarded('eth_getTransactionByHash'),
  forwarded('eth_getTransactionByBlockNumberAndIndex'),
  forwarded('eth_getTransactionByBlockHashAndIndex'),
  forwarded('eth_getTransactionReceipt'),
  forwarded('eth_getStorageAt'),
  forwarded('eth_call', { cost: 2 }),
  forwarded('eth_getLogs', { cost: 5 }),
];
