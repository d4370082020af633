import { toQuantity } from '@packhouse/chain';
import { type Network, nodeMethod } from '@packhouse/networks';

/** A call to an upstream, and how its answer is read. */
export interface NodeRequest {
  /** The name that upstreams know. */
  method: string;
  params: readonly unknown[];
  /** The number in the answer; null if there is none. */
  read(result: unknown): number | null;
}

/** The call that asks a network's upstreams for their head; null if there is none. */
export function getHeadRequest(network: Pick<Network, 'family' | 'rpc'>): NodeRequest | null {
  switch (network.family) {
    case 'evm':
      // Not eth_blockNumber: some nodes return a number before they have its block.
      return getEvmBlock('latest');
    case 'core': {
      const method = nodeMethod('core_epochNumber', network.rpc.aliases);
      return { method, params: ['latest_state'], read: parseQuantity };
    }
    case 'cell':
      return { method: 'get_tip_block_number', params: [], read: parseQuantity };
    case 'registry':
      return null;
  }
}

/** The call that asks an upstream for the header of a block; null for a family without heads. */
export function getHeaderRequest(
  network: Pick<Network, 'family' | 'rpc'>,
  number: number,
): NodeRequest | null {
  const at = toQuantity(number);
  switch (network.family) {
    case 'evm':
      return getEvmBlock(at);
    case 'core': {
      const method = nodeMethod('core_getBlockByEpochNumber', network.rpc.aliases);
      return { method, params: [at, false], read: (block) => getField(block, 'epochNumber') };
    }
    case 'cell':
      return { method: 'get_header_by_number', params: [at], read: numberOfBlock };
    case 'registry':
      return null;
  }
}

/** The call that asks a network's upstreams for the `chainId` of the networks file; null if that has none. */
export function getIdentityRequest(network: Pick<Network, 'family' | 'rpc'>): NodeRequest | null {
  if (network.family === 'evm') return { method: 'eth_chainId', params: [], read: parseQuantity };
  if (network.family !== 'core') return null;
  return { method: nodeMethod('core_getStatus', network.rpc.aliases), params: [], read: networkOfStatus };
}

/** Old nodes return only the chain, which is the same number on the main network. */
function networkOfStatus(status: unknown): number | null {
  if (typeof status !== 'object' || status === null) return null;
  const { chainId, networkId } = status as { chainId?: unknown; networkId?: unknown };
  return parseQuantity(networkId) ?? parseQuantity(chainId);
}

/** The call that asks an EVM upstream for its newest final block, or for the newest that it holds to be safe. */
export const FINALIZED_REQUEST = getEvmBlock('finalized');
export const SAFE_REQUEST = getEvmBlock('safe');

function getEvmBlock(block: string): NodeRequest {
  return { method: 'eth_getBlockByNumber', params: [block, false], read: numberOfBlock };
}

function numberOfBlock(value: unknown): number | null {
  return getField(value, 'number');
}

/** The hash of a block; null if it has none. */
export function readHash(block: unknown): string | null {
  const hash = typeof block === 'object' && block !== null ? (block as Record<string, unknown>).hash : null;
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : null;
}

function getField(value: unknown, name: string): number | null {
  return typeof value === 'object' && value !== null
    ? parseQuantity((value as Record<string, unknown>)[name])
    : null;
}

/** The number of a QUANTITY; null if it is none, or beyond what a number holds exactly. */
export function parseQuantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null;
  return Number(value);
}
