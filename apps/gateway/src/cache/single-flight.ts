import { CallController, type CallSignal } from '@packhouse/runtime';

/** Asks once for all concurrent callers of the same question. */
export interface SingleFlight<A> {
  /**
   * Rejects when `signal` is aborted, which means that the caller is done: its client has the answer, or went away.
   * `ask` gets a signal that is aborted when all its callers are done, so memory held for an answer is held until the
   * last one has it.
   */
  join(name: string, signal: CallSignal, ask: (signal: CallSignal) => Promise<A>): Promise<A>;
}

interface Flight<A> {
  readonly answer: Promise<A>;
  readonly stop: CallController;
  callers: number;
  taken: boolean;
}

/** `isForOne`: whether only one caller can use an answer, such as a stream; the other callers then ask again. */
export function createSingleFlight<A>(isForOne?: (answer: A) => boolean): SingleFlight<A> {
  const flights = new Map<string, Flight<A>>();

  const forget = (name: string, flight: Flight<A>): void => {
    if (flights.get(name) === flight) flights.delete(name);
  };

  const start = (name: string, ask: (signal: CallSignal) => Promise<A>): Flight<A> => {
    const stop = new CallController();
    const flight: Flight<A> = { answer: ask(stop), stop, callers: 0, taken: false };
    flights.set(name, flight);
    const end = (): void => forget(name, flight);
    flight.answer.then(end, end);
    return flight;
  };

  const follow = (name: string, flight: Flight<A>, signal: CallSignal): Promise<A> =>
    new Promise((resolve, reject) => {
      flight.callers += 1;
      const leave = (): void => {
        flight.callers -= 1;
        if (flight.callers === 0) {
          // The next caller must not join a question that is being aborted.
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
    async join(name, signal, ask) {
      const flight = flights.get(name) ?? start(name, ask);
      const answer = await follow(name, flight, signal);
      if (isForOne?.(answer) !== true) return answer;
      if (flight.taken) return ask(signal);
      flight.taken = true;
      // It ends with the caller that took it, though others are still counted.
      const stop = (): void => flight.stop.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      return answer;
    },
  };
}
