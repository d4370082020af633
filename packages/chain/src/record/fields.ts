import { OTHER_HEADER_NAMES, OTHER_TRANSACTION_NAMES } from '../rules/find-rules.js';
import type { Form } from '../rules/rule-set.js';
import { toQuantity } from './hex.js';
import { isKeepable, jsonText, quote } from './json-text.js';
import type { Optional, Raw, Reader } from './reader.js';

/** Fields with their own form that were found: name, JSON, name, JSON, … in alphabetical order. */
export type Pairs = string[];

/** None was found. */
export const NO_PAIRS: readonly string[] = [];

/** Adds a field that needs no escaping, if it is there. */
export function addPair(pairs: Pairs, name: string, value: Optional<string>): void {
  if (value !== undefined) pairs.push(name, value === null ? 'null' : `"${value}"`);
}

/** Adds a field that is JSON already, if it is there. */
export function addJsonPair(pairs: Pairs, name: string, json: string | undefined): void {
  if (json !== undefined) pairs.push(name, json);
}

/**
 * The members of a record that its table does not name, in alphabetical order, each after a comma.
 *
 * `specSeen` is the number of the table's fields in the record. If it and the pairs account for every key, which is
 * usual, nothing is searched.
 */
export function moreFields(
  reader: Reader,
  raw: Raw,
  table: FieldTable,
  specSeen: number,
  pairs: readonly string[],
): string {
  const keys = Object.keys(raw);
  let text = '';
  if (keys.length === specSeen + pairs.length / 2) {
    for (let at = 0; at < pairs.length; at += 2) text += `,"${pairs[at]}":${pairs[at + 1]}`;
    return text;
  }
  const members: [name: string, text: string][] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    members.push([pairs[at]!, `,"${pairs[at]}":${pairs[at + 1]}`]);
  }
  const written = new Set(members.map(([name]) => name));
  for (const key of keys) {
    if (raw[key] === undefined || table.spec.has(key) || table.own.has(key) || written.has(key)) continue;
    if (!reader.keepExtras && (raw[key] === null || !table.kept.has(key))) continue;
    if (isKeepable(key, raw[key])) members.push([key, `,${quote(key)}:${jsonText(reader, key, raw[key])}`]);
  }
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const member of members) text += member[1];
  return text;
}

/** A value in this form, as canonical hex. */
export function readForm(reader: Reader, value: unknown, name: string, form: Form): string {
  if (form === 'integer') return toQuantity(reader.integer(value, name));
  if (form === 'quantity') return reader.quantity(value, name);
  if (form === 'step' || form === 'seal') return readAura(reader, value, name, form);
  return form === 'data' ? reader.data(value, name) : reader.bytes(value, name, form);
}

const BARE_SEAL = /^[0-9a-fA-F]{130}$/;

/** What Authority Round adds to a header; the Parity family writes the step as its digits and the seal without 0x. */
function readAura(reader: Reader, value: unknown, name: string, form: 'step' | 'seal'): string {
  const text = typeof value === 'string' ? value : '';
  if (form === 'step') return DECIMAL.test(text) ? toQuantity(Number(text)) : reader.quantity(value, name);
  return reader.bytes(BARE_SEAL.test(text) ? `0x${text}` : value, name, 65);
}

/** Number of `values` that are not undefined, for `specSeen`. */
export function countPresent(...values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) if (value !== undefined) count++;
  return count;
}

const DECIMAL = /^\d{1,15}$/;

/**
 * The block's timestamp, which some nodes repeat in transactions, logs and receipts: as a QUANTITY (execution-apis), as a
 * number (Anvil, in receipts), or as its digits. Always written as a QUANTITY; null is left out.
 */
export function getBlockTimestamp(reader: Reader, { blockTimestamp }: Raw): string | undefined {
  if (blockTimestamp == null) return undefined;
  if (typeof blockTimestamp === 'number') return toQuantity(reader.integer(blockTimestamp, 'blockTimestamp'));
  if (typeof blockTimestamp === 'string' && DECIMAL.test(blockTimestamp)) {
    return toQuantity(Number(blockTimestamp));
  }
  return reader.quantity(blockTimestamp, 'blockTimestamp');
}

/** The fields of a record that its reader writes, and unknown ones that it keeps. */
export interface FieldTable {
  /** The fields that the format of bundles names, in the order of the text, which the record's file writes. */
  readonly spec: ReadonlySet<string>;
  /**
   * Fields that a protocol defines and no proof needs: kept unchanged even with `extraFields: drop`. (Fields with
   * their own form, such as `maxFeePerGas`, are read by the record's file and always kept.)
   */
  readonly kept: ReadonlySet<string>;
  /** Fields that the record's file writes in its own form or leaves out, so that they are never kept as they come. */
  readonly own: ReadonlySet<string>;
}

function table(spec: string, kept = '', own = ''): FieldTable {
  const names = (text: string) => new Set(text.split(/\s+/).filter((name) => name !== ''));
  return { spec: names(spec), kept: names(kept), own: names(own) };
}

/** Objects whose fields the format does not name. */
export const UNLISTED_FIELDS = table('');

/** A block. Kept: what the headers of other chains have. */
export const BLOCK_FIELDS = table(
  `number hash parentHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner mixHash
   difficulty totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles baseFeePerGas`,
  OTHER_HEADER_NAMES.join(' '),
);

/**
 * A transaction. Kept: the fields of the first generation of the OP stack for transactions from L1, and what the
 * encodings of other chains need.
 */
export const TRANSACTION_FIELDS = table(
  `blockHash blockNumber from gas gasPrice hash input nonce to transactionIndex value v r s type chainId accessList
   sourceHash mint isSystemTx`,
  `index l1BlockNumber l1Timestamp l1TxOrigin queueIndex queueOrigin ${OTHER_TRANSACTION_NAMES.join(' ')}`,
  'blockTimestamp depositReceiptVersion yParity',
);

/** EIP-7702; `v` is the older name of `yParity`, the others are those of Substrate's EVM. */
export const AUTHORIZATION_FIELDS = table('', 'v chain_id address nonce signature');

/** A receipt. Kept: the fees of the OP stack. */
export const RECEIPT_FIELDS = table(
  `transactionHash transactionIndex blockHash blockNumber from to cumulativeGasUsed gasUsed effectiveGasPrice
   contractAddress logs logsBloom type root status`,
  `daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee l1BlobBaseFeeScalar l1BlockNumber l1Fee l1FeeScalar l1GasPrice
   l1GasUsed operatorFeeConstant operatorFeeScalar`,
  'blockTimestamp',
);

/** A log. */
export const LOG_FIELDS = table(
  'removed logIndex transactionIndex transactionHash blockHash blockNumber address data topics',
  '',
  'blockTimestamp transactionLogIndex',
);

/** A trace. */
export const TRACE_FIELDS = table(
  'action result blockHash blockNumber subtraces traceAddress transactionHash transactionPosition type',
);

/** The action of a call. */
export const CALL_FIELDS = table('callType from to gas value input');

/** The action of a creation: those of a call's fields that it has. */
export const CREATE_FIELDS = table('from gas value');

/** The action of a reward: that of a call's fields that it has. */
export const REWARD_FIELDS = table('value');

/** The result of a call. */
export const RESULT_FIELDS = table('gasUsed output');

/** The result of what was undone: the first two are written. */
export const UNDONE_FIELDS = table('gasUsed output address code');
