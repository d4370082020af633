import { Problem } from '../http/problem.js';
import { elementsOf, membersOf } from './raw-json.js';
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

/** A parsed request body. */
interface RpcRequest {
  batch: boolean;
  items: RpcItem[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the body of a request (JSON-RPC 2.0, sections 4 and 6) of `maxCalls` calls at most. Throws the problems
 * `json-malformed`, `request-malformed`, `batch-too-large` and `body-too-large` if the whole request is refused.
 */
export function readRequest(body: Buffer | undefined, maxCalls: number): RpcRequest {
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
  if (!Array.isArray(parsed)) {
    const item = readItem(parsed, text);
    if ('problem' in item && item.id === 'null') throw item.problem;
    return { batch: false, items: [item] };
  }
  if (parsed.length === 0) {
    throw new Problem('request-malformed', { detail: 'The batch is empty.' });
  }
  const texts = elementsOf(text);
  return { batch: true, items: parsed.map((item, at) => readItem(item, texts[at] as string)) };
}

const NOTHING = Buffer.alloc(0);

/** The members of a call whose text is needed. */
const WANTED = ['id', 'params'];

function readItem(parsed: unknown, text: string): RpcItem {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return refused('null', 'A call is a JSON object with jsonrpc, method, params and id.');
  }
  const members = membersOf(text, WANTED);
  const id = members.get('id');
  const { jsonrpc, id: idValue, method, params } = parsed as Record<string, unknown>;
  if (id !== undefined && typeof idValue === 'object' && idValue !== null) {
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

function refused(id: string, detail: string): RpcItem {
  return { id, problem: new Problem('request-malformed', { detail }) };
}
