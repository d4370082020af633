import { dataBytes, keccak, quantityBytes } from './hex.js';
import type { RpcObject } from './recorded-block.js';
import { encodeRlp } from './rlp.js';

const bytes = dataBytes;
const quantity = quantityBytes;

/** Header fields in RLP order; from baseFeePerGas on they exist from the fork that brought them (EIP-1559, 4895, 4844, 4788, 7685, 7928, 7843). */
const FIELDS: readonly (readonly [name: string, encode: (hex: unknown) => Buffer, optional?: true])[] = [
  ['parentHash', bytes],
  ['sha3Uncles', bytes],
  ['miner', bytes],
  ['stateRoot', bytes],
  ['transactionsRoot', bytes],
  ['receiptsRoot', bytes],
  ['logsBloom', bytes],
  ['difficulty', quantity],
  ['number', quantity],
  ['gasLimit', quantity],
  ['gasUsed', quantity],
  ['timestamp', quantity],
  ['extraData', bytes],
  ['mixHash', bytes],
  ['nonce', bytes],
  ['baseFeePerGas', quantity, true],
  ['withdrawalsRoot', bytes, true],
  ['blobGasUsed', quantity, true],
  ['excessBlobGas', quantity, true],
  ['parentBeaconBlockRoot', bytes, true],
  ['requestsHash', bytes, true],
  ['blockAccessListHash', bytes, true],
  ['slotNumber', quantity, true],
];

/** RLP of a header, given a block object; `extra`: bytes of fields of a later fork. */
export function encodeHeader(block: RpcObject, extra: readonly Uint8Array[] = []): Buffer {
  return prepareHeader(block, extra).encode({});
}

/** keccak(RLP(header)): the block's hash. */
export function headerHash(block: RpcObject): Uint8Array {
  return keccak(encodeHeader(block));
}

/** A header of which only some fields change: the others are turned to bytes once. */
export interface PreparedHeader {
  /** RLP with the named fields replaced by these bytes (already in RLP's form). */
  encode(changed: Readonly<Record<string, Uint8Array>>): Buffer;
}

/** Prepares a block's header for being encoded many times over. */
export function prepareHeader(block: RpcObject, extra: readonly Uint8Array[] = []): PreparedHeader {
  const present = FIELDS.filter(([name, , optional]) => !optional || block[name] != null);
  const names = present.map(([name]) => name);
  const recorded = present.map(([name, encode]) => encode(block[name]));
  return {
    encode: (changed) =>
      encodeRlp([...names.map((name, at) => changed[name] ?? (recorded[at] as Buffer)), ...extra]),
  };
}
