import { createSingleFlight } from '../cache/single-flight.js';
import { beginCalls, noteOnce } from '../http/exchange.js';
import type { RpcAnswer, RpcVisit } from './method.js';

/**
 * Answers once for all calls of the same name at the same time, for methods that do more than pass a question on; their
 * answers must be whole, since a stream can be read by one caller only. `answer` gets a visit of its own, whose signal is
 * aborted when all callers have their answer or went away.
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
