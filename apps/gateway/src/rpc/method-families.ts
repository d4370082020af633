import type { Network } from '@packhouse/networks';

/** The methods of each family, as the specification spells them; a test compares them with the implementation. */
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

/** Other names that clients and nodes use. */
const OTHER_SPELLINGS = ['cfx_getLogs', 'das_accountList'];

const ALL = new Set([...Object.values(METHODS_OF_FAMILY).flat(), ...OTHER_SPELLINGS]);

/** Whether any family has a method of this name. */
export function isMethodSomewhere(name: string): boolean {
  return ALL.has(name);
}
