import type { CallSignal } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';

/** Counts the answers that are held whole until their clients have taken them. */
export interface AnswerMemory {
  /**
   * Waits for room for one more answer, whose size is estimated from earlier ones. Call the returned function with
   * the size once it is known; 0 if there is no answer. The room is free again when `signal` is aborted, that is, when
   * the client has its answer or is gone. One owner, a key or an address, gets at most half of the room. Throws the
   * problem `unavailable` if there is no room in time.
   */
  enter(signal: CallSignal, owner: number | string): Promise<(bytes: number) => void>;
  /** Counts an answer that is in memory already. */
  hold(bytes: number, signal: CallSignal, owner: number | string): void;
  /** Whether an owner has to enter before a call, because there is no room for it; otherwise its answer may be counted by `hold`. */
  mustEnter(owner: number | string): boolean;
  readonly bytes: number;
}

interface Waiting {
  signal: CallSignal;
  owner: number | string;
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
  const heldFor = new Map<number | string, number>();
  /** Calls that have room. A split call does not wait again, or it would wait for itself. */
  const inside = new WeakSet<CallSignal>();
  const waiting = new Set<Waiting>();

  const hasRoom = (owner: number | string): boolean =>
    held < maxBytes && (heldFor.get(owner) ?? 0) < maxBytes / 2;
  const fits = (signal: CallSignal, owner: number | string): boolean => inside.has(signal) || hasRoom(owner);

  const take = (bytes: number, owner: number | string): void => {
    held += bytes;
    const now = (heldFor.get(owner) ?? 0) + bytes;
    if (now === 0) heldFor.delete(owner);
    else heldFor.set(owner, now);
    if (bytes >= 0) return;
    for (const one of waiting) if (fits(one.signal, one.owner)) one.enter();
  };

  const taken = (signal: CallSignal, owner: number | string, size?: number): ((bytes: number) => void) => {
    let mine = size ?? Math.round(guess);
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
        const average = guess + (bytes - guess) / AVERAGED;
        guess = Math.min(Math.max(average, LEAST_GUESS), maxBytes / MOST_GUESSES);
      }
      if (over) return;
      const more = bytes - mine;
      mine = bytes;
      take(more, owner);
    };
  };

  return {
    async enter(signal, owner) {
      if (fits(signal, owner)) return taken(signal, owner);
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
          owner,
          enter: () => {
            end();
            resolve(taken(signal, owner));
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
    hold: (bytes, signal, owner) => void taken(signal, owner, bytes),
    mustEnter: (owner) => !hasRoom(owner),
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
