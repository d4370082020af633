import {
  addJsonPair,
  addPair,
  blockTimestampOf,
  countPresent,
  moreFields,
  type Pairs,
  TRANSACTION_FIELDS,
} from './fields.js';
import { jsonMember, member, nullable, stringArray } from './json-text.js';
import type { Optional, Reader } from './reader.js';
import {
  type AccessList,
  type AuthorizationList,
  readAccessList,
  readAuthorizationList,
} from './transaction-lists.js';

/** EIP-2718 type of an OP-stack deposit. */
export const DEPOSIT = 0x7e;

/** The types that can be encoded, and so proved. */
export type TransactionType = 0 | 1 | 2 | 3 | 4 | typeof DEPOSIT;

const TYPES: ReadonlyMap<string, TransactionType> = new Map([
  ['0x0', 0],
  ['0x1', 1],
  ['0x2', 2],
  ['0x3', 3],
  ['0x4', 4],
  ['0x7e', DEPOSIT],
]);

/** A transaction in canonical form; absent fields are undefined. */
export interface TransactionRecord {
  /** From `type`; a record without one is a legacy transaction, from a node older than EIP-2718. */
  kind: TransactionType;
  blockHash: string;
  blockNumber: string;
  from: string;
  gas: string;
  gasPrice: Optional<string>;
  hash: string;
  input: string;
  nonce: Optional<string>;
  to: string | null;
  transactionIndex: string;
  value: string;
  v: Optional<string>;
  r: Optional<string>;
  s: Optional<string>;
  type: Optional<string>;
  chainId: Optional<string>;
  accessList: AccessList | null | undefined;
  sourceHash: Optional<string>;
  mint: Optional<string>;
  isSystemTx: Optional<boolean>;
  authorizationList: AuthorizationList | undefined;
  blobVersionedHashes: string[] | undefined;
  blockTimestamp: string | undefined;
  maxFeePerBlobGas: Optional<string>;
  maxFeePerGas: Optional<string>;
  maxPriorityFeePerGas: Optional<string>;
  yParity: Optional<string>;
  /** The members that the record's table does not name, as canonical JSON, each after a comma. */
  more: string;
}

/** Strings that a transaction's fields are likely to equal, in canonical form; empty: not known. */
interface BlockHints {
  hash: string;
  number: string;
}

/** Reads one full transaction object of a block. */
export function readTransaction(reader: Reader, value: unknown, block: BlockHints): TransactionRecord {
  const raw = reader.object(value, 'the transaction');
  const type = reader.optionalQuantity(raw.type, 'type');
  const kind = type == null ? 0 : TYPES.get(type);
  if (kind === undefined) reader.fail('type', 'a transaction type from 0x0 to 0x4, or 0x7e', type);
  // a deposit has no signature and pays no fee, so some nodes omit these fields
  const signed = kind !== DEPOSIT;
  const record: TransactionRecord = {
    kind,
    blockHash: reader.bytes(raw.blockHash, 'blockHash', 32, block.hash),
    blockNumber: reader.quantity(raw.blockNumber, 'blockNumber', block.number),
    from: reader.bytes(raw.from, 'from', 20),
    gas: reader.quantity(raw.gas, 'gas'),
    gasPrice: quantityOf(reader, signed, raw.gasPrice, 'gasPrice'),
    hash: reader.bytes(raw.hash, 'hash', 32),
    input: reader.data(raw.input, 'input'),
    nonce: quantityOf(reader, signed, raw.nonce, 'nonce'),
    to: raw.to === null ? null : reader.bytes(raw.to, 'to', 20),
    transactionIndex: reader.quantity(raw.transactionIndex, 'transactionIndex'),
    value: reader.quantity(raw.value, 'value'),
    v: quantityOf(reader, signed, raw.v, 'v'),
    r: wordOf(reader, signed, raw.r, 'r'),
    s: wordOf(reader, signed, raw.s, 's'),
    type,
    chainId: reader.optionalQuantity(raw.chainId, 'chainId'),
    accessList:
      raw.accessList == null ? reader.missing(raw.accessList) : readAccessList(reader, raw.accessList),
    sourceHash: reader.optionalBytes(raw.sourceHash, 'sourceHash', 32),
    mint: reader.optionalQuantity(raw.mint, 'mint'),
    isSystemTx: reader.optionalBoolean(raw.isSystemTx, 'isSystemTx'),
    authorizationList: undefined,
    blobVersionedHashes: undefined,
    blockTimestamp: blockTimestampOf(reader, raw),
    maxFeePerBlobGas: reader.optionalQuantity(raw.maxFeePerBlobGas, 'maxFeePerBlobGas'),
    maxFeePerGas: reader.optionalQuantity(raw.maxFeePerGas, 'maxFeePerGas'),
    maxPriorityFeePerGas: reader.optionalQuantity(raw.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
    yParity: reader.optionalQuantity(raw.yParity, 'yParity'),
    more: '',
  };
  requireFieldsOfType(reader, record);
  const pairs: Pairs = [];
  if (raw.authorizationList != null) {
    record.authorizationList = readAuthorizationList(reader, raw.authorizationList);
    pairs.push('authorizationList', record.authorizationList.text);
  } else {
    addJsonPair(pairs, 'authorizationList', nullText(reader.missing(raw.authorizationList)));
  }
  if (raw.blobVersionedHashes != null) {
    record.blobVersionedHashes = reader.items(raw.blobVersionedHashes, 'blobVersionedHashes', (hash) =>
      reader.bytes(hash, 'blobVersionedHashes', 32),
    );
    pairs.push('blobVersionedHashes', stringArray(record.blobVersionedHashes));
  } else {
    addJsonPair(pairs, 'blobVersionedHashes', nullText(reader.missing(raw.blobVersionedHashes)));
  }
  if (reader.keepExtras) addPair(pairs, 'blockTimestamp', record.blockTimestamp);
  addPair(pairs, 'maxFeePerBlobGas', record.maxFeePerBlobGas);
  addPair(pairs, 'maxFeePerGas', record.maxFeePerGas);
  addPair(pairs, 'maxPriorityFeePerGas', record.maxPriorityFeePerGas);
  addPair(pairs, 'yParity', record.yParity);
  const { gasPrice, nonce, v, r, s, chainId, accessList, sourceHash, mint, isSystemTx } = raw;
  const optional =
    countPresent(gasPrice, nonce, v, r, s) +
    countPresent(raw.type, chainId, accessList, sourceHash, mint, isSystemTx);
  record.more = moreFields(reader, raw, TRANSACTION_FIELDS, 9 + optional, pairs);
  return record;
}

function quantityOf(reader: Reader, required: boolean, value: unknown, field: string): Optional<string> {
  return required ? reader.quantity(value, field) : reader.optionalQuantity(value, field);
}

function wordOf(reader: Reader, required: boolean, value: unknown, field: string): Optional<string> {
  return required ? reader.word(value, field) : reader.optionalWord(value, field);
}

function nullText(value: null | undefined): string | undefined {
  return value === null ? 'null' : undefined;
}

/** The fields without which a transaction of its type has no encoding. */
function requireFieldsOfType(reader: Reader, tx: TransactionRecord): void {
  const missing = (field: string, value: unknown) => {
    if (value == null) reader.fail(field, `a value, as the transaction is of type ${tx.type}`, value);
  };
  if (tx.kind === DEPOSIT) missing('sourceHash', tx.sourceHash);
  else if (tx.kind >= 1) missing('chainId', tx.chainId);
  if (tx.kind >= 2 && tx.kind <= 4) {
    missing('maxFeePerGas', tx.maxFeePerGas);
    missing('maxPriorityFeePerGas', tx.maxPriorityFeePerGas);
  }
  if (tx.kind === 3) missing('maxFeePerBlobGas', tx.maxFeePerBlobGas);
}

/** The members that begin each transaction of a block, up to its sender; one flat string. */
export function transactionHead(blockHash: string, blockNumber: string): string {
  return ['{"blockHash":"', blockHash, '","blockNumber":"', blockNumber, '","from":"'].join('');
}

/** Canonical JSON of a transaction; `head` is the same for all transactions of a block. */
export function transactionText(
  tx: TransactionRecord,
  head = transactionHead(tx.blockHash, tx.blockNumber),
): string {
  const accessList = tx.accessList === null ? 'null' : tx.accessList?.text;
  const isSystemTx = tx.isSystemTx === undefined ? undefined : String(tx.isSystemTx);
  return (
    `${head}${tx.from}","gas":"${tx.gas}"` +
    member('gasPrice', tx.gasPrice) +
    `,"hash":"${tx.hash}","input":"${tx.input}"` +
    member('nonce', tx.nonce) +
    `,"to":${nullable(tx.to)},"transactionIndex":"${tx.transactionIndex}","value":"${tx.value}"` +
    member('v', tx.v) +
    member('r', tx.r) +
    member('s', tx.s) +
    member('type', tx.type) +
    member('chainId', tx.chainId) +
    jsonMember('accessList', accessList) +
    member('sourceHash', tx.sourceHash) +
    member('mint', tx.mint) +
    jsonMember('isSystemTx', isSystemTx) +
    `${tx.more}}`
  );
}
