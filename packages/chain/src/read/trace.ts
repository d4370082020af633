import { jsonText, quote } from '../text/json-text.js';
import { member } from '../text/member.js';
import { addPair, countPresent, moreFields, type Pairs } from './more-fields.js';
import type { Raw, Reader } from './reader.js';
import {
  CALL_FIELDS,
  CREATE_FIELDS,
  RESULT_FIELDS,
  REWARD_FIELDS,
  TRACE_FIELDS,
  UNLISTED_FIELDS,
} from './tables.js';

/** What a trace is of. */
export type TraceType = 'call' | 'create' | 'suicide' | 'reward';

/** What the checks need of one trace, and its canonical JSON. */
export interface TraceRecord {
  type: TraceType;
  blockHash: string;
  blockNumber: number;
  subtraces: number;
  traceAddress: readonly number[];
  /** undefined for a reward, which belongs to no transaction. */
  transactionHash: string | undefined;
  transactionPosition: number | undefined;
  failed: boolean;
  /** Of a call or a creation. */
  from: string | undefined;
  /** Of a call. */
  to: string | undefined;
  value: string | undefined;
  /** What a call was given, or the code that a creation runs. */
  input: string | undefined;
  /** The new contract of a creation that succeeded. */
  created: string | undefined;
  text: string;
}

/** Strings that a trace's fields are likely to equal, in canonical form; empty: not known. */
export interface TraceHints {
  blockHash: string;
  transactionHash: string;
  /** The input of the call that encloses this one: proxies hand it on. */
  input: string;
}

interface Part {
  from?: string;
  to?: string;
  value?: string;
  input?: string;
  created?: string;
  text: string;
}

/** Node software agrees on these; anything else is quoted. */
const CALL_TYPES: ReadonlySet<unknown> = new Set(['call', 'delegatecall', 'staticcall', 'callcode']);

/** Reads one trace of a block, in the flat shape of `trace_block`. */
export function readTrace(reader: Reader, value: unknown, hints: TraceHints): TraceRecord {
  const raw = reader.object(value, 'the trace');
  const type = readType(reader, raw.type);
  const failed = raw.error != null;
  const action = readAction(reader, type, reader.object(raw.action, 'action'), hints);
  const result = readResult(reader, type, raw.result, failed);
  const ofTransaction = type !== 'reward';
  const blockHash = reader.bytes(raw.blockHash, 'blockHash', 32, hints.blockHash);
  const blockNumber = reader.integer(raw.blockNumber, 'blockNumber');
  const subtraces = reader.integer(raw.subtraces, 'subtraces');
  const traceAddress = readAddress(reader, raw.traceAddress);
  let transaction: string;
  let transactionHash: string | undefined;
  let transactionPosition: number | undefined;
  if (ofTransaction) {
    transactionHash = reader.bytes(raw.transactionHash, 'transactionHash', 32, hints.transactionHash);
    transactionPosition = reader.integer(raw.transactionPosition, 'transactionPosition');
    transaction = `,"transactionHash":"${transactionHash}","transactionPosition":${transactionPosition}`;
  } else {
    transaction =
      noTransaction(reader, raw, 'transactionHash') + noTransaction(reader, raw, 'transactionPosition');
  }
  const pairs: Pairs = [];
  if (failed) pairs.push('error', jsonText(reader, 'error', raw.error));
  else if (reader.missing(raw.error as null | undefined) === null) pairs.push('error', 'null');
  const optional = countPresent(raw.result, raw.transactionHash, raw.transactionPosition);
  const more = moreFields(reader, raw, TRACE_FIELDS, 6 + optional, pairs);
  const text =
    `{"action":${action.text}${result === undefined ? '' : `,"result":${result.text}`},"blockHash":"${blockHash}"` +
    `,"blockNumber":${blockNumber},"subtraces":${subtraces},"traceAddress":[${traceAddress.join(',')}]` +
    `${transaction},"type":"${type}"${more}}`;
  return {
    type,
    blockHash,
    blockNumber,
    subtraces,
    traceAddress,
    transactionHash,
    transactionPosition,
    failed,
    from: action.from,
    to: action.to,
    value: action.value,
    input: action.input,
    created: result?.created,
    text,
  };
}

function readType(reader: Reader, value: unknown): TraceType {
  switch (value) {
    case 'call':
    case 'create':
    case 'suicide':
    case 'reward':
      return value;
    case 'selfdestruct':
      // the newer name of the same thing; one of them is written, so that two nodes give the same bytes
      return 'suicide';
    default:
      return reader.fail('type', 'call, create, suicide or reward', value);
  }
}

function readAddress(reader: Reader, value: unknown): readonly number[] {
  const list = reader.array(value, 'traceAddress');
  for (let at = 0; at < list.length; at++) reader.integer(list[at], 'traceAddress');
  return list as readonly number[];
}

function noTransaction(reader: Reader, raw: Raw, field: 'transactionHash' | 'transactionPosition'): string {
  const value = raw[field];
  if (value != null) reader.fail(field, 'nothing, as the trace is a reward', value);
  return member(field, reader.missing(value));
}

function readAction(reader: Reader, type: TraceType, raw: Raw, hints: TraceHints): Part {
  switch (type) {
    case 'call': {
      const callType = CALL_TYPES.has(raw.callType)
        ? `"${raw.callType}"`
        : typeof raw.callType === 'string'
          ? quote(raw.callType)
          : reader.fail('action.callType', 'a string', raw.callType);
      const from = reader.bytes(raw.from, 'action.from', 20);
      const to = reader.bytes(raw.to, 'action.to', 20);
      const gas = reader.quantity(raw.gas, 'action.gas');
      const value = reader.quantity(raw.value, 'action.value');
      const input = reader.data(raw.input, 'action.input', hints.input);
      const more = moreFields(reader, raw, CALL_FIELDS, 6, []);
      const text = `{"callType":${callType},"from":"${from}","to":"${to}","gas":"${gas}","value":"${value}","input":"${input}"${more}}`;
      return { from, to, value, input, text };
    }
    case 'create': {
      const from = reader.bytes(raw.from, 'action.from', 20);
      const gas = reader.quantity(raw.gas, 'action.gas');
      const value = reader.quantity(raw.value, 'action.value');
      const input = reader.data(raw.init, 'action.init', hints.input);
      const more = moreFields(reader, raw, CREATE_FIELDS, 3, ['init', `"${input}"`]);
      return { from, value, input, text: `{"from":"${from}","gas":"${gas}","value":"${value}"${more}}` };
    }
    case 'suicide': {
      const pairs: Pairs = [];
      addPair(pairs, 'address', reader.bytes(raw.address, 'action.address', 20));
      addPair(pairs, 'balance', reader.quantity(raw.balance, 'action.balance'));
      addPair(pairs, 'refundAddress', reader.bytes(raw.refundAddress, 'action.refundAddress', 20));
      return { text: `{${moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs).slice(1)}}` };
    }
    case 'reward': {
      const value = reader.quantity(raw.value, 'action.value');
      if (typeof raw.rewardType !== 'string') reader.fail('action.rewardType', 'a string', raw.rewardType);
      const pairs: Pairs = [];
      addPair(pairs, 'author', reader.bytes(raw.author, 'action.author', 20));
      pairs.push('rewardType', quote(raw.rewardType));
      return { value, text: `{"value":"${value}"${moreFields(reader, raw, REWARD_FIELDS, 1, pairs)}}` };
    }
  }
}

/**
 * The result of a call or a creation.
 *
 * A reverted one has `error` and, depending on the node, no result, a null, or an object with what was used and
 * returned; all three are kept as they are.
 */
function readResult(reader: Reader, type: TraceType, value: unknown, failed: boolean): Part | undefined {
  if (value == null && (failed || type === 'suicide' || type === 'reward')) {
    return reader.missing(value) === null ? { text: 'null' } : undefined;
  }
  if (type === 'suicide' || type === 'reward') reader.fail('result', 'no result', value);
  const raw = reader.object(value, 'result');
  const part: Part = { text: '' };
  const spared = (field: string) =>
    (failed || (type === 'create' && field === 'output')) && raw[field] == null;
  const optional = (field: 'address' | 'code' | 'gasUsed' | 'output', read: () => string) =>
    spared(field) ? reader.missing(raw[field] as null | undefined) : read();
  const gasUsed = optional('gasUsed', () => reader.quantity(raw.gasUsed, 'result.gasUsed'));
  const output = optional('output', () => reader.data(raw.output, 'result.output'));
  const pairs: Pairs = [];
  if (type === 'create') {
    const address = optional('address', () => reader.bytes(raw.address, 'result.address', 20));
    addPair(pairs, 'address', address);
    addPair(
      pairs,
      'code',
      optional('code', () => reader.data(raw.code, 'result.code')),
    );
    part.created = address ?? undefined;
  }
  const seen = countPresent(raw.gasUsed, raw.output);
  const more = moreFields(reader, raw, RESULT_FIELDS, seen, pairs);
  part.text = `{${(member('gasUsed', gasUsed) + member('output', output) + more).slice(1)}}`;
  return part;
}
