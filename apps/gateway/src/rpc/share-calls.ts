import type { ForwardAnswer } from '@packhouse/node-rpc';
import { CallController, type CallSignal } from '@packhouse/runtime';

/** Asks once for all who ask the same at the same time. */
export interface SharedCalls {
  /** `ask` gets a signal that is aborted when nobody waits any more. Rejects when `signal` is aborted. */
  ask(
    name: string,
    signal: CallSignal,
    ask: (signal: CallSignal) => Promise<ForwardAnswer>,
  ): Promise<ForwardAnswer>;
}

interface Flight {
  answer: Promise<ForwardAnswer>;
  waiting: number;
  stop: CallController;
  /** Somebody has the stream; it can be read once. */
  streamed: boolean;
}

/** Makes it; a result that is streamed goes to whoever waits longest, the others ask for themselves. */
export function createSharedCalls(): SharedCalls {
  const flights = new Map<string, Flight>();

  const begin = (name: string, ask: (signal: CallSignal) => Promise<ForwardAnswer>): Flight => {
    const stop = new CallController();
    const flight: Flight = { answer: ask(stop), waiting: 0, stop, streamed: false };
    flights.set(name, flight);
    const land = (): void => forget(name, flight);
    flight.answer.then(land, land);
    return flight;
  };

  const forget = (name: string, flight: Flight): void => {
    if (flights.get(name) === flight) flights.delete(name);
  };

  const board = (name: string, flight: Flight, signal: CallSignal): Promise<ForwardAnswer> =>
    new Promise((resolve, reject) => {
      let waits = true;
      flight.waiting += 1;
      const end = (): void => {
        waits = false;
        flight.waiting -= 1;
        signal.removeEventListener('abort', leave);
      };
      const leave = (): void => {
        end();
        if (flight.waiting === 0 && !flight.streamed) {
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
      flight.answer.then(
        (answer) => {
          if (waits) end();
          resolve(answer);
        },
        (error) => {
          if (waits) end();
          reject(error as Error);
        },
      );
    });

  return {
    async ask(name, signal, ask) {
      const flight = flights.get(name) ?? begin(name, ask);
      const answer = await board(name, flight, signal);
      if (answer.kind !== 'result' || answer.body.rest === null) return answer;
      if (flight.streamed) return ask(signal);
      flight.streamed = true;
      const stop = (): void => flight.stop.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      return answer;
    },
  };
}
