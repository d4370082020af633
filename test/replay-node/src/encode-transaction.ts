import { dataBytes, quantityBytes } from './hex.js';
import type { RpcObject } from './recorded-block.js';
import { encodeRlp, type RlpItem } from './rlp.js';

const q = quantityBytes;
const address = (value: unknown): Buffer => (value == null ? Buffer.alloc(0) : dataBytes(value));

function accessList(tx: RpcObject): RlpItem {
  const entries = (tx.accessList ?? []) as { address: string; storageKeys: string[] }[];
  return entries.map((entry) => [dataBytes(entry.address), entry.storageKeys.map(dataBytes)]);
}

function authorizations(tx: RpcObject): RlpItem {
  const entries = (tx.authorizationList ?? []) as RpcObject[];
  return entries.map((entry) => [
    q(entry.chainId),
    address(entry.address),
    q(entry.nonce),
    q(entry.yParity ?? entry.v),
    q(entry.r),
    q(entry.s),
  ]);
}

/**
 * The consensus encoding of a transaction of type 0 to 4 (Yellow Paper, EIP-2930, 1559, 4844, 7702): what its
 * hash and the transactions' trie are made of; undefined for a type that has no signature of its own (deposits).
 */
export function encodeTransaction(tx: RpcObject): Buffer | undefined {
  return encode(tx, [q(tx.v ?? tx.yParity), q(tx.r), q(tx.s)]);
}

/** What the sender of a transaction signs: a legacy one with its chain (EIP-155). */
export function encodeUnsigned(tx: RpcObject): Buffer | undefined {
  return encode(tx, tx.type === '0x0' ? [q(tx.chainId), q('0x0'), q('0x0')] : []);
}

function encode(tx: RpcObject, signature: RlpItem[]): Buffer | undefined {
  const type = Number(tx.type ?? '0x0');
  const call: RlpItem[] = [q(tx.gas), address(tx.to), q(tx.value), dataBytes(tx.input)];
  const fees: RlpItem[] = [q(tx.chainId), q(tx.nonce), q(tx.maxPriorityFeePerGas), q(tx.maxFeePerGas)];
  if (type === 0) return encodeRlp([q(tx.nonce), q(tx.gasPrice), ...call, ...signature]);
  let fields: RlpItem[];
  if (type === 1) fields = [q(tx.chainId), q(tx.nonce), q(tx.gasPrice), ...call, accessList(tx)];
  else if (type === 2) fields = [...fees, ...call, accessList(tx)];
  else if (type === 3) {
    const blobHashes = (tx.blobVersionedHashes as string[]).map(dataBytes);
    fields = [...fees, ...call, accessList(tx), q(tx.maxFeePerBlobGas), blobHashes];
  } else if (type === 4) fields = [...fees, ...call, accessList(tx), authorizations(tx)];
  else return undefined;
  return Buffer.concat([Buffer.of(type), encodeRlp([...fields, ...signature])]);
}
