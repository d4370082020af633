import { createSlicer, findElements, getMembers } from '@packhouse/json';
import { Problem } from '../http/problem.js';
import { isObject } from './check-params.js';
import { expectParsable } from './scan-body.js';

/** One call of a request. */
export interface RpcCall {
  /** JSON text as it was sent; absent for a notification, which gets no answer. */
  id: string | undefined;
  method: string;
  /** Parsed; `[]` if there were none. */
  params: readonly unknown[];
  /** JSON text of `params`, as it was sent. */
  paramsText: string;
}

/** A call, or the problem of an item that is not a call. */
export type RpcItem = { call: RpcCall } | { id: string; problem: Problem };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the body of a request (JSON-RPC 2.0, sections 4 and 6) of `maxCalls` calls at most. Throws the problems
 * `json-malformed`, `request-malformed`, `batch-too-large` and `body-too-large` if the whole request is refused.
 */
export function readRequest(
  body: Buffer | undefined,
  maxCalls: number,
): { batch: boolean; items: RpcItem[] } {
  const bytes = body ?? NOTHING;
  expectParsable(bytes, maxCalls);
  let text: string;
  let parsed: unknown;
  try {
    text = utf8.decode(bytes);
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new Problem('json-malformed', { detail: 'The body is not JSON in UTF-8.', cause });
  }
  // The decoder leaves out a byte order mark, and no other JSON begins with this byte.
  const json = bytes[0] === BYTE_ORDER_MARK[0] ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  const slice = createSlicer(json, text);
  const read = (item: unknown, start: number): RpcItem =>
    readItem(item, () => getMembers(json, TEXTS, start, slice));
  if (!Array.isArray(parsed)) {
    const item = read(parsed, 0);
    if ('problem' in item && item.id === 'null') throw item.problem;
    return { batch: false, items: [item] };
  }
  if (parsed.length === 0) {
    throw new Problem('request-malformed', { detail: 'The batch is empty.' });
  }
  return { batch: true, items: findElements(json).map(({ start }, at) => read(parsed[at], start)) };
}

const NOTHING = Buffer.alloc(0);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The members of a call whose text is needed. */
const TEXTS = ['id', 'params'];

function readItem(parsed: unknown, getTexts: () => Map<string, string>): RpcItem {
  if (!isObject(parsed)) {
    return refused('null', 'A call is a JSON object with jsonrpc, method, params and id.');
  }
  const members = getTexts();
  const id = members.get('id');
  const { jsonrpc, id: idValue, method, params } = parsed;
  if (id !== undefined && !isId(idValue)) {
    return refused('null', 'The id is a number, a string or null.');
  }
  const answerTo = id ?? 'null';
  if (jsonrpc !== undefined && jsonrpc !== '2.0') return refused(answerTo, 'The member jsonrpc is "2.0".');
  if (typeof method !== 'string') return refused(answerTo, 'The member method is a string.');
  // Some clients write null for no parameters.
  if (params === undefined || params === null) return { call: { id, method, params: [], paramsText: '[]' } };
  if (!Array.isArray(params)) return refused(answerTo, 'The member params is an array.');
  return { call: { id, method, params, paramsText: members.get('params') as string } };
}

/** JSON-RPC 2.0, section 4; fractions, which it discourages, are sent back as they were written. */
function isId(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function refused(id: string, detail: string): RpcItem {
  return { id, problem: new Problem('request-malformed', { detail }) };
}
