import {
  addPair,
  CALL_FIELDS,
  CREATE_FIELDS,
  countPresent,
  moreFields,
  NO_PAIRS,
  type Pairs,
  RESULT_FIELDS,
  REWARD_FIELDS,
  UNDONE_FIELDS,
  UNLISTED_FIELDS,
} from './fields.js';
import { member, quote } from './json-text.js';
import type { Optional, Raw, Reader } from './reader.js';

/** The types of traces. */
export type TraceType = 'call' | 'create' | 'suicide' | 'reward';

/** Values that a trace's fields are likely to equal, in canonical form; empty or -1: not known. */
export interface TraceHints {
  blockHash: string;
  blockNumber: number;
  /** The members that say so, as `blockMembers` writes them. */
  blockText: string;
  transactionHash: string;
  transactionPosition: number;
  /** The members that say so, as `transactionMembers` writes them. */
  transactionText: string;
  /** The callee of the call that encloses this one. */
  from: string;
  /** Input and output of the call that encloses this one: proxies forward them. */
  input: string;
  output: string;
}

/** The action of a trace, in canonical form. */
export interface TraceAction {
  /** Of a call or a creation; of a self-destruction, who destroys itself. */
  from: string | undefined;
  /** Of a call. */
  to: string | undefined;
  value: string | undefined;
  /** The input of a call, or the code that a creation runs. */
  input: string | undefined;
  /** Of a call: the address as which code runs, and so of its logs. With a borrowed code it is the caller's. */
  context: string | undefined;
  text: string;
}

/** Beginnings of the actions of the known types of calls; any other type is quoted. */
const CALL_HEADS: ReadonlyMap<unknown, string> = new Map(
  ['call', 'delegatecall', 'staticcall', 'callcode'].map((type) => [type, `{"callType":"${type}","from":"`]),
);

/** Calls that run the code of `to` as the caller. */
const BORROWING: ReadonlySet<unknown> = new Set(['delegatecall', 'callcode']);

/** Reads the action of a trace. */
export function readAction(reader: Reader, type: TraceType, value: unknown, hints: TraceHints): TraceAction {
  const raw = reader.object(value, 'action');
  switch (type) {
    case 'call':
      return readCall(reader, raw, hints);
    case 'create':
      return readCreation(reader, raw, hints);
    case 'suicide':
      return readSuicide(reader, raw);
    case 'reward':
      return readReward(reader, raw);
  }
}

function readCall(reader: Reader, raw: Raw, hints: TraceHints): TraceAction {
  const { callType } = raw;
  const head = CALL_HEADS.get(callType) ?? `{"callType":${text(reader, callType, 'callType')},"from":"`;
  const from = reader.bytes(raw.from, 'action.from', 20, hints.from);
  const to = reader.bytes(raw.to, 'action.to', 20);
  const gas = reader.quantity(raw.gas, 'action.gas');
  const value = reader.quantity(raw.value, 'action.value');
  const input = reader.data(raw.input, 'action.input', hints.input);
  const more = moreFields(reader, raw, CALL_FIELDS, 6, NO_PAIRS);
  return {
    from,
    to,
    value,
    input,
    context: BORROWING.has(callType) ? from : to,
    text: `${head}${from}","to":"${to}","gas":"${gas}","value":"${value}","input":"${input}"${more}}`,
  };
}

function readCreation(reader: Reader, raw: Raw, hints: TraceHints): TraceAction {
  const from = reader.bytes(raw.from, 'action.from', 20, hints.from);
  const gas = reader.quantity(raw.gas, 'action.gas');
  const value = reader.quantity(raw.value, 'action.value');
  const input = reader.data(raw.init, 'action.init', hints.input);
  const more = moreFields(reader, raw, CREATE_FIELDS, 3, ['init', `"${input}"`]);
  const json = `{"from":"${from}","gas":"${gas}","value":"${value}"${more}}`;
  return { from, to: undefined, value, input, context: undefined, text: json };
}

const NO_CALL = { from: undefined, to: undefined, input: undefined, context: undefined };

function readSuicide(reader: Reader, raw: Raw): TraceAction {
  const pairs: Pairs = [];
  const from = reader.bytes(raw.address, 'action.address', 20);
  addPair(pairs, 'address', from);
  addPair(pairs, 'balance', reader.quantity(raw.balance, 'action.balance'));
  addPair(pairs, 'refundAddress', reader.bytes(raw.refundAddress, 'action.refundAddress', 20));
  const json = `{${moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs).slice(1)}}`;
  return { ...NO_CALL, from, value: undefined, text: json };
}

function readReward(reader: Reader, raw: Raw): TraceAction {
  const value = reader.quantity(raw.value, 'action.value');
  const pairs: Pairs = [];
  addPair(pairs, 'author', reader.bytes(raw.author, 'action.author', 20));
  pairs.push('rewardType', text(reader, raw.rewardType, 'rewardType'));
  const json = `{"value":"${value}"${moreFields(reader, raw, REWARD_FIELDS, 1, pairs)}}`;
  return { ...NO_CALL, value, text: json };
}

function text(reader: Reader, value: unknown, field: string): string {
  return typeof value === 'string' ? quote(value) : reader.fail(`action.${field}`, 'a string', value);
}

/** The result of a call or a creation, in canonical form. */
export interface TraceResult {
  /** The new contract of a creation. */
  created: string | undefined;
  output: string | undefined;
  /** The member of the trace, after a comma; empty if there is none. */
  text: string;
}

const NONE: TraceResult = { created: undefined, output: undefined, text: '' };
const NULL: TraceResult = { created: undefined, output: undefined, text: ',"result":null' };

/**
 * Reads the result of a trace.
 *
 * What was reverted has, depending on the node, no result, a null, or an object with gas and output; all three are kept
 * unchanged. What failed otherwise has none: some nodes write null, others nothing, and gas that is all of it.
 */
export function readResult(
  reader: Reader,
  type: TraceType,
  value: unknown,
  outcome: 'done' | 'reverted' | 'failed',
  hints: TraceHints,
): TraceResult {
  const hasNone = type === 'suicide' || type === 'reward';
  if (value == null && (outcome !== 'done' || hasNone)) {
    return reader.missing(value) === null && (outcome !== 'failed' || hasNone) ? NULL : NONE;
  }
  if (hasNone) reader.fail('result', 'no result', value);
  const raw = reader.object(value, 'result');
  if (outcome !== 'done') {
    const result = readUndone(reader, raw);
    return outcome === 'reverted' ? result : NONE;
  }
  const gasUsed = reader.quantity(raw.gasUsed, 'result.gasUsed');
  if (type === 'call') {
    const output = reader.data(raw.output, 'result.output', hints.output);
    const more = moreFields(reader, raw, RESULT_FIELDS, 2, NO_PAIRS);
    const text = `,"result":{"gasUsed":"${gasUsed}","output":"${output}"${more}}`;
    return { created: undefined, output, text };
  }
  const created = reader.bytes(raw.address, 'result.address', 20);
  const code = reader.data(raw.code, 'result.code');
  const output = optionalData(reader, raw.output, 'result.output');
  const pairs: Pairs = ['address', `"${created}"`, 'code', `"${code}"`];
  const more = moreFields(reader, raw, RESULT_FIELDS, 1 + countPresent(raw.output), pairs);
  const text = `,"result":{"gasUsed":"${gasUsed}"${member('output', output)}${more}}`;
  return { created, output: undefined, text };
}

/**
 * A call or creation that was undone requires no field, but existing fields must have their form. A creation returned its
 * reason, which some nodes call its code, and made nothing, though some name the address (reth, Anvil, erigon 2).
 */
function readUndone(reader: Reader, raw: Raw): TraceResult {
  const gasUsed = reader.optionalQuantity(raw.gasUsed, 'result.gasUsed');
  const code = optionalData(reader, raw.code, 'result.code');
  const address = reader.optionalBytes(raw.address, 'result.address', 20);
  const output = optionalData(reader, raw.output, 'result.output');
  const pairs: Pairs = [];
  let seen = countPresent(raw.gasUsed, raw.output);
  if (reader.published) {
    addPair(pairs, 'address', address);
    addPair(pairs, 'code', code);
  } else seen += countPresent(raw.address, raw.code);
  const more = moreFields(reader, raw, reader.published ? RESULT_FIELDS : UNDONE_FIELDS, seen, pairs);
  const returned = output === undefined && !reader.published ? code : output;
  const members = member('gasUsed', gasUsed) + member('output', returned) + more;
  return { created: undefined, output: output ?? undefined, text: `,"result":{${members.slice(1)}}` };
}

function optionalData(reader: Reader, value: unknown, field: string): Optional<string> {
  return value == null ? reader.missing(value) : reader.data(value, field);
}
