import { DEPOSIT, type OtherType, type TransactionRecord } from '../record/transaction.js';
import type { AccessEntry, Authorization } from '../record/transaction-lists.js';
import { dataLength, headerLength, quantityLength, type RlpBuffer } from './rlp-buffer.js';

/**
 * Adds a transaction's encoding as an item; keccak of it is its hash, and it is the leaf of the transactions' trie.
 *
 * Source: Yellow Paper for type 0, EIP-2930, EIP-1559, EIP-4844, EIP-7702 for 1 to 4, the OP stack's deposit
 * specification for 0x7e; for other types the rules of the chain.
 */
export function encodeTransaction(rlp: RlpBuffer, tx: TransactionRecord): void {
  if (tx.other?.unwrapped === true) {
    const type = Buffer.from([tx.kind]);
    rlp.rawItem(Buffer.concat([type, Buffer.from(tx.input.slice(2), 'hex')]));
    return;
  }
  const payload = rlp.beginItem();
  if (tx.other !== undefined) {
    other(rlp, tx.other.values ?? []);
  } else if (tx.kind === DEPOSIT) {
    deposit(rlp, tx);
  } else {
    if (tx.kind === 0) legacy(rlp, tx);
    else typed(rlp, tx);
    signature(rlp, tx);
  }
  rlp.endItem(payload, tx.kind);
}

/**
 * Adds the text that the sender of a transaction signed as an item; keccak of it is the signed message.
 *
 * `chainId` is that of a legacy transaction protected by EIP-155; absent for one that is not.
 */
export function encodeSigned(rlp: RlpBuffer, tx: TransactionRecord, chainId?: string): void {
  const payload = rlp.beginItem();
  if (tx.kind === 0) legacy(rlp, tx);
  else typed(rlp, tx);
  if (chainId !== undefined) {
    rlp.quantity(chainId);
    rlp.empty();
    rlp.empty();
  }
  rlp.endItem(payload, tx.kind);
}

/** The fields of a type that only some chains have. */
function other(rlp: RlpBuffer, values: NonNullable<OtherType['values']>): void {
  for (const { form, value } of values) {
    if (value === null) rlp.empty();
    else if (typeof value === 'object') accessList(rlp, value.entries);
    else if (form === 'quantity') rlp.quantity(value);
    else rlp.data(value);
  }
}

function legacy(rlp: RlpBuffer, tx: TransactionRecord): void {
  rlp.quantity(tx.nonce!);
  rlp.quantity(tx.gasPrice!);
  body(rlp, tx);
}

function typed(rlp: RlpBuffer, tx: TransactionRecord): void {
  rlp.quantity(tx.chainId!);
  rlp.quantity(tx.nonce!);
  if (tx.kind === 1) {
    rlp.quantity(tx.gasPrice!);
  } else {
    rlp.quantity(tx.maxPriorityFeePerGas!);
    rlp.quantity(tx.maxFeePerGas!);
  }
  body(rlp, tx);
  accessList(rlp, tx.accessList?.entries ?? []);
  if (tx.kind === 3) {
    rlp.quantity(tx.maxFeePerBlobGas!);
    const hashes = tx.blobVersionedHashes ?? [];
    rlp.list(33 * hashes.length);
    for (const hash of hashes) rlp.data(hash);
  }
  if (tx.kind === 4) authorizationList(rlp, tx.authorizationList?.entries ?? []);
}

function deposit(rlp: RlpBuffer, tx: TransactionRecord): void {
  rlp.data(tx.sourceHash!);
  rlp.data(tx.from);
  recipient(rlp, tx);
  rlp.quantity(tx.mint ?? '0x0');
  rlp.quantity(tx.value);
  rlp.quantity(tx.gas);
  rlp.quantity(tx.isSystemTx === true ? '0x1' : '0x0');
  rlp.data(tx.input);
}

function body(rlp: RlpBuffer, tx: TransactionRecord): void {
  rlp.quantity(tx.gas);
  recipient(rlp, tx);
  rlp.quantity(tx.value);
  rlp.data(tx.input);
}

function recipient(rlp: RlpBuffer, tx: TransactionRecord): void {
  if (tx.to === null) rlp.empty();
  else rlp.data(tx.to);
}

function signature(rlp: RlpBuffer, tx: TransactionRecord): void {
  rlp.quantity(tx.v!);
  rlp.quantity(tx.r!);
  rlp.quantity(tx.s!);
}

function accessList(rlp: RlpBuffer, entries: readonly AccessEntry[]): void {
  let length = 0;
  for (const entry of entries) {
    const inner = accessEntryLength(entry);
    length += headerLength(inner) + inner;
  }
  rlp.list(length);
  for (const entry of entries) {
    rlp.list(accessEntryLength(entry));
    rlp.data(entry.address);
    rlp.list(33 * entry.storageKeys.length);
    for (const key of entry.storageKeys) rlp.data(key);
  }
}

function accessEntryLength(entry: AccessEntry): number {
  const keys = 33 * entry.storageKeys.length;
  return 21 + headerLength(keys) + keys;
}

function authorizationList(rlp: RlpBuffer, entries: readonly Authorization[]): void {
  let length = 0;
  for (const entry of entries) {
    const inner = authorizationLength(entry);
    length += headerLength(inner) + inner;
  }
  rlp.list(length);
  for (const entry of entries) {
    rlp.list(authorizationLength(entry));
    rlp.quantity(entry.chainId);
    rlp.data(entry.address);
    rlp.quantity(entry.nonce);
    rlp.quantity(entry.yParity);
    rlp.quantity(entry.r);
    rlp.quantity(entry.s);
  }
}

function authorizationLength(entry: Authorization): number {
  const { chainId, address, nonce, yParity, r, s } = entry;
  let length = dataLength(address);
  for (const quantity of [chainId, nonce, yParity, r, s]) length += quantityLength(quantity);
  return length;
}
