import { createSingleFlight } from '../cache/single-flight.js';
import { beginCalls, noteOnce } from '../http/exchange.js';
import { toErrorAnswer } from './ask-node.js';
import type { CallContext, RpcAnswer } from './method.js';

/**
 * Answers concurrent calls of the same name once, for methods that do more than forward a call. The answer must be
 * whole, since a stream can be read by one caller only. The signal that `make` gets is aborted when all callers have
 * the answer or are gone.
 */
export function createAnswerJointly() {
  const flights = createSingleFlight<{ answer: RpcAnswer; upstreams: readonly string[] }>();
  return async (
    name: string,
    caller: CallContext,
    make: (caller: CallContext) => Promise<RpcAnswer>,
  ): Promise<RpcAnswer> => {
    const { address, network, context, key, span } = caller;
    const { answer, upstreams } = await flights.join(name, caller.signal, async (signal) => {
      const notes = beginCalls();
      return {
        answer: await make({ address, network, context, key, span, notes, signal }).catch(toErrorAnswer),
        upstreams: notes.upstreams,
      };
    });
    for (const upstream of upstreams) noteOnce(caller.notes?.upstreams, upstream);
    return answer;
  };
}
