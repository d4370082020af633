import { hash } from 'node:crypto';
import { addressBlock } from '../http/client-address.js';
import type { RpcVisit } from '../rpc/method.js';

/** Bytes of a hash that a number holds exactly. */
const BYTES = 6;

/**
 * Who filters belong to and whose calls under way are counted together, as a number: the key's, or a negative one that
 * stands for the block of addresses which the requests of a client without a key are counted by.
 */
export function ownerOf({ key, address = '' }: Pick<RpcVisit, 'key' | 'address'>): number {
  return key?.id ?? -1 - hash('sha256', addressBlock(address), 'buffer').readUIntBE(0, BYTES);
}
