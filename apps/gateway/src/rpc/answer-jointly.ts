import { createSingleFlight } from '../cache/single-flight.js';
import { beginCalls, noteOnce } from '../http/exchange.js';
import type { RpcAnswer, RpcVisit } from './method.js';

/**
 * Answers concurrent calls of the same name once, for methods that do more than forward a call. The answer must be
 * whole, since a stream can be read by one caller only. The signal that `answer` gets is aborted when all callers have
 * the answer or are gone.
 */
type AnswerJointly = (
  name: string,
  visit: RpcVisit,
  answer: (visit: RpcVisit) => Promise<RpcAnswer>,
) => Promise<RpcAnswer>;

export function createAnswerJointly(): AnswerJointly {
  const flights = createSingleFlight<{ answer: RpcAnswer; upstreams: readonly string[] }>();
  return async (name, visit, make) => {
    const { at, context, key, span } = visit;
    const { answer, upstreams } = await flights.join(name, visit.signal, async (signal) => {
      const notes = beginCalls();
      return { answer: await make({ at, context, key, span, notes, signal }), upstreams: notes.upstreams };
    });
    for (const upstream of upstreams) noteOnce(visit.notes?.upstreams, upstream);
    return answer;
  };
}
