import { nodeMethod } from '@packhouse/networks';
import type { ForwardAnswer, ResultBody } from '@packhouse/node-rpc';
import { noteOnce } from '../http/exchange.js';
import { failure } from './answer-call.js';
import type { RpcVisit } from './method.js';

/** What a node answered, all of it. */
export type WholeAnswer =
  | {
      kind: 'result';
      body: ResultBody;
      /** Made when it is asked for. */
      readonly text: string;
      upstream: string;
    }
  | { kind: 'error'; error: Buffer; code: number; message: string };

/** The only results that can be large: what else is asked for whole waits for no room, and is counted when it is here. */
const LISTS = new Set(['eth_getLogs', 'core_getLogs']);
const COUNTED_BYTES = 65_536;

/**
 * Asks the best node for a result that is worked on here. All questions of one call together have the time that the
 * networks file gives it, from the first of them on. Throws problems.
 */
export async function askWhole(
  visit: Pick<RpcVisit, 'at' | 'key' | 'signal' | 'span' | 'notes' | 'deadline'>,
  request: {
    method: string;
    params: string;
    idempotent?: boolean;
    block?: number;
    /** Of the time that is left at most. */
    timeoutMs?: number;
  },
): Promise<WholeAnswer> {
  const { at, key, signal, span, notes } = visit;
  const { rpc } = at.site.network;
  visit.deadline ??= performance.now() + rpc.timeoutMs;
  const holder = key?.id ?? 0;
  // What is held whole is counted until the client has its answer.
  const held = LISTS.has(request.method) ? await at.memory?.enter(signal, holder) : undefined;
  const leftMs = Math.floor(visit.deadline - performance.now());
  let answer: ForwardAnswer | undefined;
  try {
    if (leftMs > 0) {
      answer = await at.forwarder.call({
        method: nodeMethod(request.method, rpc.aliases),
        params: request.params,
        idempotent: request.idempotent ?? true,
        whole: true,
        timeoutMs: Math.min(leftMs, request.timeoutMs ?? leftMs),
        maxBytes: rpc.maxAnswerBytes,
        signal,
        ...(request.block === undefined ? {} : { block: request.block }),
        ...(span === undefined ? {} : { span }),
      });
    }
  } finally {
    const bytes = answer?.kind === 'result' ? sizeOf(answer.body) : 0;
    if (held !== undefined) held(bytes);
    else if (bytes > COUNTED_BYTES) at.memory?.hold(bytes, signal, holder);
  }
  if (answer === undefined || (answer.kind === 'failed' && answer.reason === 'timeout')) {
    throw failure({ reason: 'timeout', detail: `it takes longer than ${rpc.timeoutMs} ms` }, rpc);
  }
  if (answer.kind === 'failed') throw failure(answer, rpc);
  noteOnce(notes?.upstreams, answer.upstream);
  if (answer.kind === 'error') return answer;
  const { body, upstream } = answer;
  return {
    kind: 'result',
    ...{ body, upstream },
    get text() {
      return body.bytes.toString('utf8');
    },
  };
}

/** Bytes of a result that is here. */
export function sizeOf(body: ResultBody): number {
  return body.pieces?.reduce((sum, { length }) => sum + length, 0) ?? body.bytes.length;
}
