import { failure, nodeName } from './answer-call.js';
import type { RpcVisit } from './method.js';

/** What a node answered, all of it. */
export type WholeAnswer =
  | { kind: 'result'; text: string; upstream: string }
  | { kind: 'error'; error: Buffer; code: number; message: string };

/** Asks the best node for a result that is worked on here. Throws problems. */
export async function askWhole(
  { at, signal, span, notes }: Pick<RpcVisit, 'at' | 'signal' | 'span' | 'notes'>,
  request: { method: string; params: string; idempotent?: boolean; block?: number },
): Promise<WholeAnswer> {
  const { rpc } = at.site.network;
  const answer = await at.forwarder.call({
    method: nodeName(request.method, rpc.aliases),
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
  notes?.upstreams.add(answer.upstream);
  if (answer.kind === 'result') {
    const { upstream } = answer;
    return { kind: 'result', text: answer.body.bytes.toString('utf8'), upstream };
  }
  return answer;
}
