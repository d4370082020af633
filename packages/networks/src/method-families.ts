import type { Network } from './network.js';

/** The methods of each family that are always offered; a test compares them with the implementation. */
export const METHODS_OF_FAMILY: Record<Network['family'], readonly string[]> = {
  evm: [
    'eth_blockNumber',
    'eth_chainId',
    'net_version',
    'eth_getBlockByNumber',
    'eth_getBlockByHash',
    'eth_getBlockReceipts',
    'eth_getTransactionByHash',
    'eth_getTransactionByBlockNumberAndIndex',
    'eth_getTransactionByBlockHashAndIndex',
    'eth_getTransactionReceipt',
    'eth_getStorageAt',
    'eth_call',
    'eth_getLogs',
    'eth_newFilter',
    'eth_newBlockFilter',
    'eth_newPendingTransactionFilter',
    'eth_getFilterChanges',
    'eth_getFilterLogs',
    'eth_uninstallFilter',
  ],
  core: ['core_getLogs'],
  cell: ['send_transaction', 'get_consensus'],
  registry: ['registry_accountList'],
};

/** What EVM networks offer unless their profile is strict. */
export const WALLET_METHODS: readonly string[] = [
  'eth_getBalance',
  'eth_getCode',
  'eth_getTransactionCount',
  'eth_getProof',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
  'eth_blobBaseFee',
  'eth_feeHistory',
  'eth_estimateGas',
  'eth_syncing',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'web3_clientVersion',
  'web3_sha3',
];

/** Names that are not always offered, or that clients and nodes use beside these. */
const MORE_NAMES: Partial<Record<Network['family'], readonly string[]>> = {
  evm: [...WALLET_METHODS, 'eth_sendRawTransaction'],
  core: ['cfx_getLogs'],
  registry: ['das_accountList'],
};

/** Whether another family than this has a method of this name. */
export function isMethodElsewhere(name: string, family: Network['family']): boolean {
  return (Object.keys(METHODS_OF_FAMILY) as Network['family'][]).some(
    (other) =>
      other !== family &&
      (METHODS_OF_FAMILY[other].includes(name) || MORE_NAMES[other]?.includes(name) === true),
  );
}

/** What Packhouse itself asks of nodes, beside methods of the families. */
const OWN_METHODS = [
  'trace_block',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'trace_transaction',
];

/** Whether any family, or Packhouse itself, has a method of this name. */
export function isKnownMethod(name: string): boolean {
  return (
    OWN_METHODS.includes(name) ||
    [METHODS_OF_FAMILY, MORE_NAMES].some((of) => Object.values(of).some((names) => names.includes(name)))
  );
}

/** The name of a method at a network's upstreams, by its `rpc.aliases`: `core_getLogs` is `cfx_getLogs` there. */
export function nodeMethod(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(ours)) return theirs + name.slice(ours.length);
  }
  return name;
}
