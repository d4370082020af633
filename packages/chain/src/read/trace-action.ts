import { quote } from '../text/json-text.js';
import { addPair, moreFields, NO_PAIRS, type Pairs } from './more-fields.js';
import type { Raw, Reader } from './reader.js';
import { CALL_FIELDS, CREATE_FIELDS, REWARD_FIELDS, UNLISTED_FIELDS } from './tables.js';
import type { TraceHints, TraceType } from './trace.js';

/** What a trace did, in canonical form. */
export interface TraceAction {
  /** Of a call or a creation. */
  from: string | undefined;
  /** Of a call. */
  to: string | undefined;
  value: string | undefined;
  /** What a call was given, or the code that a creation runs. */
  input: string | undefined;
  text: string;
}

/** Beginnings of the actions of the calls that there are; any other type is quoted. */
const CALL_HEADS: ReadonlyMap<unknown, string> = new Map(
  ['call', 'delegatecall', 'staticcall', 'callcode'].map((type) => [type, `{"callType":"${type}","from":"`]),
);

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
  return { from, to: undefined, value, input, text: json };
}

function readSuicide(reader: Reader, raw: Raw): TraceAction {
  const pairs: Pairs = [];
  addPair(pairs, 'address', reader.bytes(raw.address, 'action.address', 20));
  addPair(pairs, 'balance', reader.quantity(raw.balance, 'action.balance'));
  addPair(pairs, 'refundAddress', reader.bytes(raw.refundAddress, 'action.refundAddress', 20));
  const json = `{${moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs).slice(1)}}`;
  return { from: undefined, to: undefined, value: undefined, input: undefined, text: json };
}

function readReward(reader: Reader, raw: Raw): TraceAction {
  const value = reader.quantity(raw.value, 'action.value');
  const pairs: Pairs = [];
  addPair(pairs, 'author', reader.bytes(raw.author, 'action.author', 20));
  pairs.push('rewardType', text(reader, raw.rewardType, 'rewardType'));
  const json = `{"value":"${value}"${moreFields(reader, raw, REWARD_FIELDS, 1, pairs)}}`;
  return { from: undefined, to: undefined, value, input: undefined, text: json };
}

function text(reader: Reader, value: unknown, field: string): string {
  return typeof value === 'string' ? quote(value) : reader.fail(`action.${field}`, 'a string', value);
}
