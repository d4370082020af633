import type { TransactionRecord } from '../record/transaction.js';
import type {
  AccessEntry,
  AccessList,
  Authorization,
  AuthorizationList,
} from '../record/transaction-lists.js';
import { ENCODINGS, type EncodedField, SIGNATURE } from '../rules/encodings.js';
import type { RlpBuffer } from './rlp-buffer.js';

/**
 * Adds a transaction's encoding as an item; keccak of it is its hash, and it is the leaf of the transactions' trie. Of types
 * that only some chains have, the rules of the chain say what is encoded.
 */
export function encodeTransaction(rlp: RlpBuffer, tx: TransactionRecord): void {
  if (tx.other?.unwrapped === true) {
    const type = Buffer.from([tx.kind]);
    rlp.rawItem(Buffer.concat([type, Buffer.from(tx.input.slice(2), 'hex')]));
    return;
  }
  const payload = rlp.beginItem();
  if (tx.other === undefined) {
    writeFields(rlp, tx, ENCODINGS.get(tx.kind)!);
    // Nobody signs a deposit.
    if (tx.kind <= 4) writeFields(rlp, tx, SIGNATURE);
  } else {
    for (const { form, value } of tx.other.values ?? []) {
      write(rlp, form, value);
    }
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
  writeFields(rlp, tx, ENCODINGS.get(tx.kind)!);
  if (chainId !== undefined) {
    rlp.quantity(chainId);
    rlp.empty();
    rlp.empty();
  }
  rlp.endItem(payload, tx.kind);
}

function writeFields(rlp: RlpBuffer, tx: TransactionRecord, fields: readonly EncodedField[]): void {
  for (const { name, form } of fields) write(rlp, form, tx[name as keyof TransactionRecord]);
}

/** Writes a field; a number that is absent is 0, an address nothing. */
function write(rlp: RlpBuffer, form: EncodedField['form'], value: unknown): void {
  if (form === 'quantity') rlp.quantity((value as string | null | undefined) ?? '0x0');
  else if (form === 'flag') rlp.quantity(value === true ? '0x1' : '0x0');
  else if (form === 'accessList')
    writeAccessList(rlp, (value as AccessList | null | undefined)?.entries ?? []);
  else if (form === 'hashes') writeHashes(rlp, (value as readonly string[] | undefined) ?? []);
  else if (form === 'authorizations')
    writeAuthorizations(rlp, (value as AuthorizationList | undefined)?.entries ?? []);
  else if (value === null) rlp.empty();
  else rlp.data(value as string);
}

function writeHashes(rlp: RlpBuffer, hashes: readonly string[]): void {
  const list = rlp.beginList();
  for (const hash of hashes) rlp.data(hash);
  rlp.endList(list);
}

function writeAccessList(rlp: RlpBuffer, entries: readonly AccessEntry[]): void {
  const list = rlp.beginList();
  for (const { address, storageKeys } of entries) {
    const entry = rlp.beginList();
    rlp.data(address);
    writeHashes(rlp, storageKeys);
    rlp.endList(entry);
  }
  rlp.endList(list);
}

function writeAuthorizations(rlp: RlpBuffer, entries: readonly Authorization[]): void {
  const list = rlp.beginList();
  for (const { chainId, address, nonce, yParity, r, s } of entries) {
    const entry = rlp.beginList();
    rlp.quantity(chainId);
    rlp.data(address);
    for (const quantity of [nonce, yParity, r, s]) rlp.quantity(quantity);
    rlp.endList(entry);
  }
  rlp.endList(list);
}
