import { hash } from 'node:crypto';
import { addressBlock } from '../http/client-address.js';

/** Bytes of a hash that a number holds exactly. */
const BYTES = 6;

/**
 * Who filters belong to and whose calls under way are counted together, as a number: the key's, or a negative one that
 * stands for the block of addresses which the requests of a client without a key are counted by.
 */
export function ownerOf(client: { key: { id: number } | undefined; address?: string | undefined }): number {
  const { key, address = '' } = client;
  return key?.id ?? -1 - hash('sha256', addressBlock(address), 'buffer').readUIntBE(0, BYTES);
}
