import { Problem } from '../http/problem.js';
import { elementsOf, membersOf, TooDeepError } from './raw-json.js';

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
 * Parses the body of a request (JSON-RPC 2.0, sections 4 and 6) of `maxCalls` calls at most. Throws the problems `json-malformed`,
 * `request-malformed` and `batch-too-large` if the whole request is refused.
 */
export function readRequest(body: Buffer | undefined, maxCalls: number): RpcRequest {
  let text: string;
  let parsed: unknown;
  try {
    text = utf8.decode(body ?? Buffer.alloc(0));
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new Problem('json-malformed', { detail: 'The body is not JSON in UTF-8.', cause });
  }
  try {
    if (!Array.isArray(parsed)) {
      const item = readItem(parsed, text);
      if ('problem' in item && item.id === 'null') throw item.problem;
      return { batch: false, items: [item] };
    }
    if (parsed.length === 0) {
      throw new Problem('request-malformed', { detail: 'The batch is empty.' });
    }
    if (parsed.length > maxCalls) {
      throw new Problem('batch-too-large', {
        detail: `A batch has ${maxCalls} calls at most; this one has ${parsed.length}.`,
        members: { limit: maxCalls },
      });
    }
    const texts = elementsOf(text, maxCalls);
    return { batch: true, items: parsed.map((item, at) => readItem(item, texts[at] as string)) };
  } catch (error) {
    if (!(error instanceof TooDeepError)) throw error;
    throw new Problem('request-malformed', { detail: 'The body is nested too deeply.' });
  }
}

function readItem(parsed: unknown, text: string): RpcItem {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return refused('null', 'A call is a JSON object with jsonrpc, method, params and id.');
  }
  const members = membersOf(text);
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
