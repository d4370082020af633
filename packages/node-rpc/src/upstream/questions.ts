import { type Network, nodeMethod } from '@packhouse/networks';

/** A call to an upstream, and how its answer is read. */
export interface NodeQuestion {
  /** The name that upstreams know. */
  method: string;
  params: readonly unknown[];
  /** The number in the answer; null if there is none. */
  read(result: unknown): number | null;
}

/** The call that asks a network's upstreams for their head; null if there is none. */
export function headQuestion(network: Pick<Network, 'family' | 'rpc'>): NodeQuestion | null {
  switch (network.family) {
    case 'evm':
      // Not eth_blockNumber: some nodes return a number before they have its block.
      return { method: 'eth_getBlockByNumber', params: ['latest', false], read: numberOfBlock };
    case 'core': {
      const method = nodeMethod('core_epochNumber', network.rpc.aliases);
      return { method, params: ['latest_state'], read: quantity };
    }
    case 'cell':
      return { method: 'get_tip_block_number', params: [], read: quantity };
    case 'registry':
      return null;
  }
}

/** The call that asks an upstream for the header of a block; null for a family without heads. */
export function headerQuestion(
  network: Pick<Network, 'family' | 'rpc'>,
  number: number,
): NodeQuestion | null {
  const at = `0x${number.toString(16)}`;
  switch (network.family) {
    case 'evm':
      return { method: 'eth_getBlockByNumber', params: [at, false], read: numberOfBlock };
    case 'core': {
      const method = nodeMethod('core_getBlockByEpochNumber', network.rpc.aliases);
      return { method, params: [at, false], read: (block) => fieldOf(block, 'epochNumber') };
    }
    case 'cell':
      return { method: 'get_header_by_number', params: [at], read: numberOfBlock };
    case 'registry':
      return null;
  }
}

/** The call that asks a network's upstreams for the `chainId` of the networks file; null if that has none. */
export function identityQuestion(network: Pick<Network, 'family' | 'rpc'>): NodeQuestion | null {
  if (network.family === 'evm') return { method: 'eth_chainId', params: [], read: quantity };
  if (network.family !== 'core') return null;
  return { method: nodeMethod('core_getStatus', network.rpc.aliases), params: [], read: networkOfStatus };
}

/** Old nodes return only the chain, which is the same number on the main network. */
function networkOfStatus(status: unknown): number | null {
  if (typeof status !== 'object' || status === null) return null;
  const { chainId, networkId } = status as { chainId?: unknown; networkId?: unknown };
  return quantity(networkId) ?? quantity(chainId);
}

/** The call that asks an EVM upstream for its newest final block. */
export const FINALIZED_QUESTION: NodeQuestion = {
  method: 'eth_getBlockByNumber',
  params: ['finalized', false],
  read: numberOfBlock,
};

/** The call that asks an EVM upstream for the newest block that it holds to be safe. */
export const SAFE_QUESTION: NodeQuestion = {
  method: 'eth_getBlockByNumber',
  params: ['safe', false],
  read: numberOfBlock,
};

function numberOfBlock(value: unknown): number | null {
  return fieldOf(value, 'number');
}

function fieldOf(value: unknown, name: string): number | null {
  return typeof value === 'object' && value !== null
    ? quantity((value as Record<string, unknown>)[name])
    : null;
}

/** The number of a QUANTITY; null if it is none, or beyond what a number holds exactly. */
export function quantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null;
  return Number(value);
}
