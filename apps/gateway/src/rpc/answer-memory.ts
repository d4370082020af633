import type { CallSignal } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';

/** Counts the answers that are held whole until their clients have taken them. */
export interface AnswerMemory {
  /**
   * Waits for room for one more answer, whose size is estimated from earlier ones of its method. Call the returned function with
   * the size once it is known; 0 if there is no answer. The room is free again when `signal` is aborted, that is, when
   * the client has its answer or is gone. One owner, a key or an address, gets at most half of the room. Throws the
   * problem `unavailable` if there is no room in time.
   */
  reserve(signal: CallSignal, owner: number | string, method: string): Promise<(bytes: number) => void>;
  /** Counts an answer that is in memory already, unless it is small. */
  add(bytes: number, signal: CallSignal, owner: number | string): void;
  /** Whether an owner has to reserve room before a call; otherwise its answer may be counted by `add`. */
  isFull(owner: number | string): boolean;
  readonly bytes: number;
}

interface Waiting {
  signal: CallSignal;
  owner: number | string;
  start(): void;
}

/** Smaller answers that have not reserved room are not counted: a connection buffers as much anyway. */
const COUNTED_BYTES = 65_536;
/** How long a call waits for room, in milliseconds. */
const WAIT_MS = 5_000;
/** The estimate for the first answers, and the lowest estimate, in bytes. */
const [INITIAL_GUESS, MIN_GUESS] = [1_048_576, 262_144];
/** The estimate is the average of about this many answers. */
const AVERAGED = 8;
/** At least this many estimates fit, however large the last answers were. */
const MAX_GUESSES = 32;

/** Creates a memory of `maxBytes`. One answer is always held, however large. */
export function createAnswerMemory(maxBytes: number, waitMs = WAIT_MS): AnswerMemory {
  let total = 0;
  const most = maxBytes / MAX_GUESSES;
  /** By method: answers of hundreds of kilobytes say nothing of those of megabytes. */
  const guesses = new Map<string, number>();
  const getGuess = (method: string): number => guesses.get(method) ?? Math.min(INITIAL_GUESS, most);
  const bytesOf = new Map<number | string, number>();
  /** Calls that have room. A split call does not wait again, or it would wait for itself. */
  const inside = new WeakSet<CallSignal>();
  const waiting = new Set<Waiting>();

  const hasRoom = (owner: number | string): boolean =>
    total < maxBytes && (bytesOf.get(owner) ?? 0) < maxBytes / 2;
  const fits = (signal: CallSignal, owner: number | string): boolean => inside.has(signal) || hasRoom(owner);

  const take = (bytes: number, owner: number | string): void => {
    total += bytes;
    const now = (bytesOf.get(owner) ?? 0) + bytes;
    if (now === 0) bytesOf.delete(owner);
    else bytesOf.set(owner, now);
    if (bytes >= 0) return;
    for (const one of waiting) if (fits(one.signal, one.owner)) one.start();
  };

  const taken = (
    signal: CallSignal,
    owner: number | string,
    method: string,
    size?: number,
  ): ((bytes: number) => void) => {
    let mine = size ?? Math.round(getGuess(method));
    let over = false;
    inside.add(signal);
    take(mine, owner);
    const leave = (): void => {
      over = true;
      take(-mine, owner);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return (bytes) => {
      if (bytes > 0) {
        const before = getGuess(method);
        const average = before + (bytes - before) / AVERAGED;
        guesses.set(method, Math.min(Math.max(average, MIN_GUESS), most));
      }
      if (over) return;
      const more = bytes - mine;
      mine = bytes;
      take(more, owner);
    };
  };

  return {
    async reserve(signal, owner, method) {
      if (fits(signal, owner)) return taken(signal, owner, method);
      return new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(mine);
          signal.removeEventListener('abort', stop);
        };
        const stop = (): void => {
          end();
          reject(signal.reason as Error);
        };
        const mine: Waiting = {
          signal,
          owner,
          start: () => {
            end();
            resolve(taken(signal, owner, method));
          },
        };
        const timer = setTimeout(() => {
          end();
          reject(
            new Problem('unavailable', {
              detail: 'The memory for large answers is full; try again in 1 second.',
              retryAfter: 1,
            }),
          );
        }, waitMs);
        waiting.add(mine);
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      });
    },
    add(bytes, signal, owner) {
      if (bytes > COUNTED_BYTES) taken(signal, owner, '', bytes);
    },
    isFull: (owner) => !hasRoom(owner),
    get bytes() {
      return total;
    },
  };
}
