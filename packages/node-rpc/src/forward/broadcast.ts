import { CallController } from '@packhouse/runtime';
import { type ForwardNode, TIMED_OUT } from './forward-node.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import { type Elsewhere, failed, worse } from './race.js';

/**
 * Sends one request to `most` upstreams at once; returns the answer of each. In the place of one that cannot be asked
 * the next of the line is. Ends with the time of the request or with `closing`, not with the request's signal: what
 * was sent to one upstream is still sent to the others when its sender has gone. The promises never reject.
 */
export function broadcast(
  nodes: readonly ForwardNode[],
  request: ForwardRequest,
  most: number,
  closing: AbortSignal,
): Promise<ForwardAnswer>[] {
  const ended = new CallController();
  const close = (): void => ended.abort(closing.reason);
  closing.addEventListener('abort', close, { once: true });
  const timer = setTimeout(() => ended.abort(TIMED_OUT), request.timeoutMs);
  let next = 0;
  const askOne = async (): Promise<ForwardAnswer> => {
    let failure: Elsewhere | undefined;
    try {
      while (next < nodes.length) {
        const node = nodes[next++] as ForwardNode;
        const outcome = await node.tryOnce(request, ended);
        if (outcome.kind !== 'elsewhere') return outcome;
        failure = worse(failure, outcome);
      }
    } catch {
      if (failure?.said !== undefined) return failure.said;
      const detail = `no node answered within ${request.timeoutMs} ms`;
      return { kind: 'failed', reason: 'timeout', detail };
    }
    return failed(failure, undefined);
  };
  // Each takes its first upstream before any other takes a second.
  const answers = Array.from({ length: Math.max(1, Math.min(most, nodes.length)) }, askOne);
  void Promise.all(answers).then(() => {
    clearTimeout(timer);
    closing.removeEventListener('abort', close);
  });
  return answers;
}
