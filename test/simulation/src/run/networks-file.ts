import { NODE_NAMES, type NodeName } from '../schedule/action.js';
import { CHAIN_ID, MAX_BLOCKS, NETWORK } from './settings.js';

/**
 * The networks file of all processes. The address of a node begins with the name of the process that asks, and holds
 * a key that must appear nowhere.
 */
export function networksFile(ports: Readonly<Record<NodeName, number>>): string {
  const upstreams = NODE_NAMES.map((name) => ({
    name,
    url: `http://127.0.0.1:${ports[name]}/\${PROCESS_NAME}/v2/\${NODE_KEY}`,
    headers: { 'X-Key': '${NODE_HEADER}' },
    priority: name === 'honest' ? 2 : 1,
  }));
  const network = {
    id: NETWORK,
    family: 'evm',
    chainId: CHAIN_ID,
    upstreams,
    pollIntervalMs: 200,
    bundles: { maxBlocks: MAX_BLOCKS },
  };
  return JSON.stringify({ networks: [network] }, null, 2);
}
