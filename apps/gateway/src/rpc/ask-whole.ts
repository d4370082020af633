import { nodeMethod } from '@packhouse/networks';
import type { ResultBody } from '@packhouse/node-rpc';
import { noteOnce } from '../server/visit.js';
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

/** Asks the best node for a result that is worked on here. Throws problems. */
export async function askWhole(
  { at, signal, span, notes }: Pick<RpcVisit, 'at' | 'signal' | 'span' | 'notes'>,
  request: { method: string; params: string; idempotent?: boolean; block?: number },
): Promise<WholeAnswer> {
  const { rpc } = at.site.network;
  // What is held whole is counted until the client has its answer.
  const held = await at.memory?.enter(signal);
  const answer = await at.forwarder.call({
    method: nodeMethod(request.method, rpc.aliases),
    params: request.params,
    idempotent: request.idempotent ?? true,
    whole: true,
    timeoutMs: rpc.timeoutMs,
    maxBytes: rpc.maxAnswerBytes,
    signal,
    ...(request.block === undefined ? {} : { block: request.block }),
    ...(span === undefined ? {} : { span }),
  });
  if (answer.kind === 'failed') throw failure(answer);
  noteOnce(notes?.upstreams, answer.upstream);
  if (answer.kind === 'result') {
    const { body, upstream } = answer;
    held?.(sizeOf(body));
    return {
      kind: 'result',
      ...{ body, upstream },
      get text() {
        return body.bytes.toString('utf8');
      },
    };
  }
  held?.(answer.error.length);
  return answer;
}

/** Bytes of a result that is here. */
export function sizeOf(body: ResultBody): number {
  return body.pieces?.reduce((sum, { length }) => sum + length, 0) ?? body.bytes.length;
}
