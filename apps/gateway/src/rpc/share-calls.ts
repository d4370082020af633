import type { ForwardAnswer } from '@packhouse/node-rpc';

/** Asks once for all who ask the same at the same time. */
export interface SharedCalls {
  /** `ask` gets a signal that is aborted when nobody waits any more. Rejects when `signal` is aborted. */
  ask(
    name: string,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<ForwardAnswer>,
  ): Promise<ForwardAnswer>;
}

interface Flight {
  answer: Promise<ForwardAnswer>;
  waiting: number;
  stop: AbortController;
}

/** Makes it; a result that is streamed goes to whoever asked first, the others ask for themselves. */
export function createSharedCalls(): SharedCalls {
  const flights = new Map<string, Flight>();

  const begin = (name: string, ask: (signal: AbortSignal) => Promise<ForwardAnswer>): Flight => {
    const stop = new AbortController();
    const flight: Flight = { answer: ask(stop.signal), waiting: 0, stop };
    flights.set(name, flight);
    const land = (): void => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    flight.answer.then(land, land);
    return flight;
  };

  const board = async (flight: Flight, signal: AbortSignal): Promise<ForwardAnswer> => {
    flight.waiting += 1;
    let leave = (): void => undefined;
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason as Error);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([flight.answer, gone]);
    } finally {
      signal.removeEventListener('abort', leave);
      flight.waiting -= 1;
      if (flight.waiting === 0 && signal.aborted) flight.stop.abort(signal.reason);
    }
  };

  return {
    async ask(name, signal, ask) {
      const running = flights.get(name);
      if (running === undefined) {
        const flight = begin(name, ask);
        const answer = await board(flight, signal);
        if (answer.kind === 'result' && answer.body.rest !== null) {
          signal.addEventListener('abort', () => flight.stop.abort(signal.reason), { once: true });
        }
        return answer;
      }
      const answer = await board(running, signal);
      if (answer.kind === 'result' && answer.body.rest !== null) return ask(signal);
      return answer;
    },
  };
}
