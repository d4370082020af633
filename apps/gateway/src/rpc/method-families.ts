import type { Network } from '@packhouse/networks';

/** The methods that each family has, in the spelling of the specification; a test holds it beside the methods. */
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

/** How clients write some of them, and the nodes. */
const OTHER_SPELLINGS = ['cfx_getLogs', 'das_accountList'];

const ALL = new Set([...Object.values(METHODS_OF_FAMILY).flat(), ...OTHER_SPELLINGS]);

/** Whether some network has a method of this name, even if this one cannot. */
export function isMethodSomewhere(name: string): boolean {
  return ALL.has(name);
}
