import { CallController } from '@packhouse/runtime';
import { beginCalls, type CallNotes, noteOnce } from '../http/exchange.js';
import type { RpcAnswer, RpcVisit } from './method.js';

/**
 * Answers once for all who ask the same at the same time, where a method does more than pass a question on. Such answers
 * are held whole: what is streamed could be read by one only.
 */
export interface JointAnswers {
  /** `answer` gets a visit whose signal is aborted when all who asked have their answer or went away. */
  answer(name: string, visit: RpcVisit, answer: (visit: RpcVisit) => Promise<RpcAnswer>): Promise<RpcAnswer>;
}

interface Flight {
  answer: Promise<RpcAnswer>;
  aboard: number;
  stop: CallController;
  notes: CallNotes;
}

/** Makes it; what is held for an answer is held once, until the last one has taken it. */
export function createJointAnswers(): JointAnswers {
  const flights = new Map<string, Flight>();

  const forget = (name: string, flight: Flight): void => {
    if (flights.get(name) === flight) flights.delete(name);
  };

  const begin: (...what: Parameters<JointAnswers['answer']>) => Flight = (name, visit, answer) => {
    const { at, context, key, span } = visit;
    const [stop, notes] = [new CallController(), beginCalls()];
    const answering = answer({ at, context, key, span, notes, signal: stop });
    const flight: Flight = { answer: answering, aboard: 0, stop, notes };
    flights.set(name, flight);
    const land = (): void => forget(name, flight);
    flight.answer.then(land, land);
    return flight;
  };

  const board = (name: string, flight: Flight, { signal }: RpcVisit): Promise<RpcAnswer> =>
    new Promise((resolve, reject) => {
      flight.aboard += 1;
      const leave = (): void => {
        flight.aboard -= 1;
        if (flight.aboard === 0) {
          // Whoever comes now must not board what is being stopped.
          forget(name, flight);
          flight.stop.abort(signal.reason);
        }
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        leave();
        return;
      }
      signal.addEventListener('abort', leave, { once: true });
      flight.answer.then(resolve, reject);
    });

  return {
    async answer(name, visit, answer) {
      const flight = flights.get(name) ?? begin(name, visit, answer);
      const given = await board(name, flight, visit);
      for (const upstream of flight.notes.upstreams) noteOnce(visit.notes?.upstreams, upstream);
      return given;
    },
  };
}
