import { countPresent, moreFields, NO_PAIRS, TRACE_FIELDS } from './fields.js';
import { jsonText, member } from './json-text.js';
import type { Raw, Reader } from './reader.js';
import { normalizeTraceError } from './trace-errors.js';
import {
  readAction,
  readResult,
  type TraceAction,
  type TraceHints,
  type TraceResult,
  type TraceType,
} from './trace-parts.js';

/** Nothing is known. */
export const NO_TRACE_HINTS: Readonly<TraceHints> = {
  blockHash: '',
  blockNumber: -1,
  blockText: '',
  transactionHash: '',
  transactionPosition: -1,
  transactionText: '',
  from: '',
  input: '',
  output: '',
};

/** The members of a trace that name its block, up to where its subtraces are counted; one flat string. */
export function blockMembers(hash: string, number: number): string {
  return [',"blockHash":"', hash, '","blockNumber":', number, ',"subtraces":'].join('');
}

/** The members of a trace that name its transaction; one flat string. */
export function transactionMembers(hash: string, position: number): string {
  return [',"transactionHash":"', hash, '","transactionPosition":', position].join('');
}

/** The parts of one trace that the checks need, and its canonical JSON. */
export type TraceRecord = ReturnType<typeof readTrace>;

/** Reads one trace of a block, in the flat shape of `trace_block`. */
export function readTrace(reader: Reader, value: unknown, hints: TraceHints) {
  const raw = reader.object(value, 'the trace');
  const type = readType(reader, raw.type);
  const failed = raw.error != null;
  const action: TraceAction = readAction(reader, type, raw.action, hints);
  const isNormal = reader.published || typeof raw.error !== 'string';
  const error = isNormal ? raw.error : normalizeTraceError(raw.error as string, action.to);
  const outcome = !failed ? 'done' : error === 'Reverted' || reader.published ? 'reverted' : 'failed';
  const result: TraceResult = readResult(reader, type, raw.result, outcome, hints);
  const blockHash = reader.bytes(raw.blockHash, 'blockHash', 32, hints.blockHash);
  const blockNumber = reader.integer(raw.blockNumber, 'blockNumber');
  const ofHintedBlock = blockHash === hints.blockHash && blockNumber === hints.blockNumber;
  const blockText = ofHintedBlock ? hints.blockText : blockMembers(blockHash, blockNumber);
  const subtraces = reader.integer(raw.subtraces, 'subtraces');
  const traceAddress = readAddress(reader, raw.traceAddress);
  /** undefined for a reward, which belongs to no transaction. */
  let transactionHash: string | undefined;
  let transactionPosition: number | undefined;
  let transactionText: string;
  if (type === 'reward') {
    transactionText =
      noTransaction(reader, raw, 'transactionHash') + noTransaction(reader, raw, 'transactionPosition');
  } else {
    transactionHash = reader.bytes(raw.transactionHash, 'transactionHash', 32, hints.transactionHash);
    transactionPosition = reader.integer(raw.transactionPosition, 'transactionPosition');
    transactionText =
      transactionHash === hints.transactionHash && transactionPosition === hints.transactionPosition
        ? hints.transactionText
        : transactionMembers(transactionHash, transactionPosition);
  }
  const more = moreOfTrace(reader, raw, error);
  const text =
    `{"action":${action.text}${result.text}${blockText}${subtraces}` +
    `,"traceAddress":[${traceAddress.join(',')}]${transactionText},"type":"${type}"${more}}`;
  return {
    type,
    action,
    result,
    blockHash,
    blockNumber,
    subtraces,
    traceAddress,
    transactionHash,
    transactionPosition,
    failed,
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
      // the newer name of the same field; only one is written, so that all nodes lead to the same bytes
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

function moreOfTrace(reader: Reader, raw: Raw, error: unknown): string {
  const seen = 6 + countPresent(raw.result, raw.transactionHash, raw.transactionPosition);
  if (error != null)
    return moreFields(reader, raw, TRACE_FIELDS, seen, ['error', jsonText(reader, 'error', error)]);
  const keepsNull = error === null && reader.keepExtras;
  return moreFields(reader, raw, TRACE_FIELDS, seen, keepsNull ? ['error', 'null'] : NO_PAIRS);
}
