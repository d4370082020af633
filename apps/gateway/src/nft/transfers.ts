import type { NftTokenRef } from '@packhouse/database';
import { base32Address } from '../rpc/params/base32-address.js';
import { decodeUint, decodeUints } from './abi.js';
import { canonicalBase32 } from './base32-bytes.js';

/** keccak256("Transfer(address,address,uint256)"): ERC-721, and ERC-20 with one topic less. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** keccak256("TransferSingle(address,address,address,uint256,uint256)"): ERC-1155. */
export const SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** keccak256("TransferBatch(address,address,address,uint256[],uint256[])"): ERC-1155. */
export const BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** Ids of one TransferBatch that are looked at. */
const MAX_BATCH = 1_000;

/** A token that was transferred. */
export interface TransferredToken extends NftTokenRef {
  epoch: number;
}

/** The tokens that a log of a node says were transferred; none where it is another event or not well formed. */
export function transfersOf(log: unknown, networkId: number): TransferredToken[] {
  const { address, topics, data, epochNumber } = (log ?? {}) as Record<string, unknown>;
  if (typeof address !== 'string' || base32Address(networkId)(address) !== null) return [];
  if (!Array.isArray(topics) || topics.length !== 4 || typeof data !== 'string') return [];
  const contract = canonicalBase32(address);
  const epoch = typeof epochNumber === 'string' ? Number(epochNumber) || 0 : 0;
  return idsOf(topics, data).map((id) => ({ contract, tokenId: `0x${id.toString(16)}`, epoch }));
}

function idsOf(topics: readonly unknown[], data: string): bigint[] {
  const [event, , , last] = topics;
  if (event === TRANSFER_TOPIC) {
    return typeof last === 'string' && /^0x[0-9a-f]{64}$/i.test(last) ? [BigInt(last)] : [];
  }
  if (event === BATCH_TOPIC) return decodeUints(data, 0, MAX_BATCH);
  const id = event === SINGLE_TOPIC ? decodeUint(data) : null;
  return id === null ? [] : [id];
}
