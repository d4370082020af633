import type { Rules, TransactionField, TypeRule } from '../rules/rule-set.js';
import {
  addJsonPair,
  addPair,
  countPresent,
  getBlockTimestamp,
  moreFields,
  type Pairs,
  readForm,
  TRANSACTION_FIELDS,
} from './fields.js';
import { jsonMember, member, nullable, stringArray } from './json-text.js';
import type { Optional, Raw, Reader } from './reader.js';
import {
  type AccessList,
  type AuthorizationList,
  readAccessList,
  readAuthorizationList,
} from './transaction-lists.js';

/** EIP-2718 type of an OP-stack deposit. */
export const DEPOSIT = 0x7e;

/** Ethereum's types; others are in the rules of their chain. */
const TYPES: ReadonlyMap<string, number> = new Map([
  ['0x0', 0],
  ['0x1', 1],
  ['0x2', 2],
  ['0x3', 3],
  ['0x4', 4],
]);

/** What a transaction of a type that only some chains have is made of. */
interface OtherType {
  /** In the order of RLP; null is an absent recipient. */
  values?: readonly { form: TransactionField['form']; value: string | AccessList | null }[];
  /** Why there are no values. */
  unknown?: string;
  /** If there are none, or it is `unwrapped`: the fields that such a transaction may lack, as the node has them. */
  own?: Record<'gas' | 'input' | 'to' | 'value', Optional<string>>;
  baseFeeInReceipt?: boolean;
  /** See TypeRule. */
  unwrapped?: boolean;
  /** Whether the sender is among the values, so that the hash proves it, or always the same. */
  hasSender?: boolean;
}

/** A transaction in canonical form; absent fields are undefined. */
export type TransactionRecord = ReturnType<typeof readTransaction>;

/** Strings that a transaction's fields are likely to equal, in canonical form; empty: not known. */
interface BlockHints {
  hash: string;
  number: string;
}

/**
 * Reads one full transaction object of a block.
 *
 * `types` are those of the chain beyond Ethereum's. A type that neither names is refused, unless `types` is absent:
 * then it is kept as it comes.
 */
export function readTransaction(reader: Reader, value: unknown, block: BlockHints, types?: Rules['types']) {
  const raw = reader.object(value, 'the transaction');
  const type = reader.optionalQuantity(raw.type, 'type');
  const ethereum = type == null ? 0 : TYPES.get(type);
  const rule = ethereum === undefined ? toRule(reader, raw, type!, types) : undefined;
  // Only Ethereum's types must have a signature and a price; of the others an encoding says what it needs.
  const signed = rule === undefined;
  const loose = typeof rule === 'object' && ('unknown' in rule || rule.unwrapped === true);
  const record = {
    /** From `type`; a record without one is a legacy transaction, from a node older than EIP-2718. */
    kind: ethereum ?? Number(type),
    /** Absent for Ethereum's types and for deposits of the OP stack. */
    other: rule === undefined || rule === 'deposit' ? undefined : readOther(reader, raw, rule),
    blockHash: reader.bytes(raw.blockHash, 'blockHash', 32, block.hash),
    blockNumber: reader.quantity(raw.blockNumber, 'blockNumber', block.number),
    from: reader.bytes(raw.from, 'from', 20),
    gas: reader.quantity(raw.gas ?? (loose ? '0x0' : raw.gas), 'gas'),
    gasPrice: toQuantity(reader, signed, raw.gasPrice, 'gasPrice'),
    hash: reader.bytes(raw.hash, 'hash', 32),
    input: reader.data(raw.input ?? (loose ? '0x' : raw.input), 'input'),
    nonce: toQuantity(reader, signed, raw.nonce, 'nonce'),
    to: raw.to === null || (loose && raw.to === undefined) ? null : reader.bytes(raw.to, 'to', 20),
    transactionIndex: reader.quantity(raw.transactionIndex, 'transactionIndex'),
    value: reader.quantity(raw.value ?? (loose ? '0x0' : raw.value), 'value'),
    v: toQuantity(reader, signed, raw.v, 'v'),
    r: toWord(reader, signed, raw.r, 'r'),
    s: toWord(reader, signed, raw.s, 's'),
    type,
    chainId: reader.optionalQuantity(raw.chainId, 'chainId'),
    accessList:
      raw.accessList == null ? reader.missing(raw.accessList) : readAccessList(reader, raw.accessList),
    sourceHash: reader.optionalBytes(raw.sourceHash, 'sourceHash', 32),
    mint: reader.optionalQuantity(raw.mint, 'mint'),
    isSystemTx: reader.optionalBoolean(raw.isSystemTx, 'isSystemTx'),
    authorizationList: undefined as AuthorizationList | undefined,
    blobVersionedHashes: undefined as string[] | undefined,
    blockTimestamp: getBlockTimestamp(reader, raw),
    /** op-geth repeats that of the receipt. */
    depositReceiptVersion: reader.optionalQuantity(raw.depositReceiptVersion, 'depositReceiptVersion'),
    maxFeePerBlobGas: reader.optionalQuantity(raw.maxFeePerBlobGas, 'maxFeePerBlobGas'),
    maxFeePerGas: reader.optionalQuantity(raw.maxFeePerGas, 'maxFeePerGas'),
    maxPriorityFeePerGas: reader.optionalQuantity(raw.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
    yParity: reader.optionalQuantity(raw.yParity, 'yParity'),
    /** The members that the record's table does not name, as canonical JSON, each after a comma. */
    more: '',
  };
  if (record.other === undefined) requireFieldsOfType(reader, record);
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
  if (reader.keepExtras) addPair(pairs, 'depositReceiptVersion', record.depositReceiptVersion);
  addPair(pairs, 'maxFeePerBlobGas', record.maxFeePerBlobGas);
  addPair(pairs, 'maxFeePerGas', record.maxFeePerGas);
  addPair(pairs, 'maxPriorityFeePerGas', record.maxPriorityFeePerGas);
  // Of the others only some clients say it: see plain.ts.
  if (reader.keepExtras || (record.kind !== 0 && rule !== 'deposit'))
    addPair(pairs, 'yParity', record.yParity);
  const { gasPrice, nonce, v, r, s, chainId, accessList, sourceHash, mint, isSystemTx } = raw;
  const required = loose ? 5 + countPresent(raw.gas, raw.input, raw.to, raw.value) : 9;
  const optional =
    countPresent(gasPrice, nonce, v, r, s) +
    countPresent(raw.type, chainId, accessList, sourceHash, mint, isSystemTx);
  record.more = moreFields(reader, raw, TRANSACTION_FIELDS, required + optional, pairs);
  return record;
}

/** The rule of a type that is not Ethereum's. */
function toRule(
  reader: Reader,
  raw: Raw,
  type: string,
  types: Rules['types'] | undefined,
): TypeRule | 'deposit' {
  const rule = types?.get(type);
  if (rule !== undefined) return rule;
  if (types === undefined) return type === '0x7e' && raw.sourceHash != null ? 'deposit' : UNNAMED;
  const known = ['0x0 to 0x4', ...types.keys()].join(', ');
  return reader.fail('type', `a transaction type of this chain (${known})`, type);
}

/** Why a type that neither Ethereum nor the chain has is not proved. */
export const UNNAMED_TYPE = 'the block has a transaction of a type that no table names';

const UNNAMED: TypeRule = { unknown: UNNAMED_TYPE };

function readOther(reader: Reader, raw: Raw, rule: TypeRule): OtherType {
  const loose = () => ({
    gas: reader.optionalQuantity(raw.gas, 'gas'),
    input: raw.input == null ? reader.missing(raw.input) : reader.data(raw.input, 'input'),
    to: raw.to === null ? null : reader.optionalBytes(raw.to, 'to', 20),
    value: reader.optionalQuantity(raw.value, 'value'),
  });
  if ('unknown' in rule) return { unknown: rule.unknown, own: loose() };
  const values = rule.fields.map(({ name, or, also, form }) => {
    const value = raw[name] ?? (or === undefined ? undefined : raw[or]);
    if (form === 'accessList') return { form, value: readAccessList(reader, value ?? []) };
    if (form !== 'recipient') {
      const read = readForm(reader, value, name, form);
      const other = also === undefined ? undefined : raw[also];
      if (other != null && readForm(reader, other, also!, form) !== read) {
        reader.fail(also!, `${read}, as ${name} says`, other);
      }
      return { form, value: read };
    }
    return { form, value: value == null ? null : reader.bytes(value, name, 20) };
  });
  const hasSender = rule.unwrapped === true || rule.fields.some(({ name }) => name === 'from');
  const other = { values, baseFeeInReceipt: rule.baseFeeInReceipt === true, hasSender };
  return rule.unwrapped === true ? { ...other, unwrapped: true, own: loose() } : other;
}

function toQuantity(reader: Reader, required: boolean, value: unknown, field: string): Optional<string> {
  return required ? reader.quantity(value, field) : reader.optionalQuantity(value, field);
}

function toWord(reader: Reader, required: boolean, value: unknown, field: string): Optional<string> {
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
  const own = tx.other?.own;
  const accessList = tx.accessList === null ? 'null' : tx.accessList?.text;
  const isSystemTx = tx.isSystemTx === undefined ? undefined : String(tx.isSystemTx);
  const start =
    own === undefined
      ? `${head}${tx.from}","gas":"${tx.gas}"` +
        member('gasPrice', tx.gasPrice) +
        `,"hash":"${tx.hash}","input":"${tx.input}"` +
        member('nonce', tx.nonce) +
        `,"to":${nullable(tx.to)},"transactionIndex":"${tx.transactionIndex}","value":"${tx.value}"`
      : `${head}${tx.from}"${member('gas', own.gas)}${member('gasPrice', tx.gasPrice)},"hash":"${tx.hash}"` +
        member('input', own.input) +
        member('nonce', tx.nonce) +
        `${member('to', own.to)},"transactionIndex":"${tx.transactionIndex}"${member('value', own.value)}`;
  return (
    start +
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
