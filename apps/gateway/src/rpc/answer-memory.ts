import type { CallSignal } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';

/** Counts the answers that are held whole until their clients have taken them. */
export interface AnswerMemory {
  /**
   * Waits for room for one more answer, whose size is estimated from earlier ones. Call the returned function with
   * the size once it is known; 0 if there is no answer. The room is free again when `signal` is aborted, that is, when
   * the client has its answer or is gone. One `key` gets at most half of the room. Throws the problem `unavailable` if
   * there is no room in time.
   */
  enter(signal: CallSignal, key: number): Promise<(bytes: number) => void>;
  /** Counts an answer that is in memory already. */
  hold(bytes: number, signal: CallSignal, key: number): void;
  /** Whether there is no room. */
  readonly full: boolean;
  readonly bytes: number;
}

interface Waiting {
  signal: CallSignal;
  key: number;
  enter(): void;
}

/** How long a call waits for room, in milliseconds. */
const WAIT_MS = 5_000;
/** The estimate for the first answers, and the lowest estimate, in bytes. */
const [FIRST_GUESS, LEAST_GUESS] = [1_048_576, 262_144];
/** The estimate is the average of about this many answers. */
const AVERAGED = 8;
/** At least this many estimates fit, however large the last answers were. */
const MOST_GUESSES = 32;

/** Creates a memory of `maxBytes`. One answer is always held, however large. */
export function createAnswerMemory(maxBytes: number, waitMs = WAIT_MS): AnswerMemory {
  let held = 0;
  let guess = Math.min(FIRST_GUESS, maxBytes / MOST_GUESSES);
  const heldFor = new Map<number, number>();
  /** Calls that have room. A split call does not wait again, or it would wait for itself. */
  const inside = new WeakSet<CallSignal>();
  const waiting = new Set<Waiting>();

  const fits = (signal: CallSignal, key: number): boolean =>
    inside.has(signal) || (held < maxBytes && (heldFor.get(key) ?? 0) < maxBytes / 2);

  const take = (bytes: number, key: number): void => {
    held += bytes;
    const now = (heldFor.get(key) ?? 0) + bytes;
    if (now === 0) heldFor.delete(key);
    else heldFor.set(key, now);
    if (bytes >= 0) return;
    for (const one of waiting) if (fits(one.signal, one.key)) one.enter();
  };

  const taken = (signal: CallSignal, key: number, size?: number): ((bytes: number) => void) => {
    let mine = size ?? Math.round(guess);
    let over = false;
    inside.add(signal);
    take(mine, key);
    const leave = (): void => {
      over = true;
      take(-mine, key);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return (bytes) => {
      if (bytes > 0) {
        const average = guess + (bytes - guess) / AVERAGED;
        guess = Math.min(Math.max(average, LEAST_GUESS), maxBytes / MOST_GUESSES);
      }
      if (over) return;
      const more = bytes - mine;
      mine = bytes;
      take(more, key);
    };
  };

  return {
    async enter(signal, key) {
      if (fits(signal, key)) return taken(signal, key);
      return new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(mine);
          signal.removeEventListener('abort', gone);
        };
        const gone = (): void => {
          end();
          reject(signal.reason as Error);
        };
        const mine: Waiting = {
          signal,
          key,
          enter: () => {
            end();
            resolve(taken(signal, key));
          },
        };
        const timer = setTimeout(() => {
          end();
          reject(noRoom());
        }, waitMs);
        waiting.add(mine);
        if (signal.aborted) gone();
        else signal.addEventListener('abort', gone, { once: true });
      });
    },
    hold: (bytes, signal, key) => void taken(signal, key, bytes),
    get full() {
      return held >= maxBytes;
    },
    get bytes() {
      return held;
    },
  };
}

function noRoom(): Problem {
  return new Problem('unavailable', {
    detail: 'The gateway holds as many large answers as it may; try again in 1 second.',
    members: { retryAfterMs: 1_000 },
    headers: { 'retry-after': '1' },
  });
}
