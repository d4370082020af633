import type { CallSignal } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';

/** Counts the answers that are held whole until their clients have taken them. */
export interface AnswerMemory {
  /**
   * Waits until there is room for one more answer, whose size is guessed by those before it. The function it gives
   * tells the size when it is known. What is taken is given back when `signal` is aborted, which it is as soon as the
   * client has its answer or goes away. Throws the problem `unavailable` where room does not come in time.
   */
  enter(signal: CallSignal): Promise<(bytes: number) => void>;
  /** Counts an answer that is here already. */
  hold(bytes: number, signal: CallSignal): void;
  /** Whether there is no room. */
  readonly full: boolean;
  /** Bytes that are taken. */
  readonly bytes: number;
}

/** How long a call waits for room. */
const WAIT_MS = 5_000;
/** What is guessed of the first answers, and the least that is guessed. */
const [FIRST_GUESS, LEAST_GUESS] = [1_048_576, 262_144];
/** The largest of the last ones counts: it is forgotten by so much with each that follows. */
const FORGET = 0.98;

/** Makes it, of so many bytes. One answer may always be held, however large. */
export function createAnswerMemory(maxBytes: number, waitMs = WAIT_MS): AnswerMemory {
  let held = 0;
  let guess = FIRST_GUESS;
  const waiting = new Set<() => void>();

  const give = (bytes: number): void => {
    held -= bytes;
    for (const enter of waiting) {
      if (held >= maxBytes) break;
      waiting.delete(enter);
      enter();
    }
  };

  const taken = (signal: CallSignal, size?: number): ((bytes: number) => void) => {
    let mine = size ?? Math.round(guess);
    let over = false;
    held += mine;
    const leave = (): void => {
      over = true;
      give(mine);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return (bytes) => {
      guess = Math.max(bytes, guess * FORGET, LEAST_GUESS);
      if (over) return;
      const unused = mine - bytes;
      mine = bytes;
      give(unused);
    };
  };

  return {
    async enter(signal) {
      if (held < maxBytes && waiting.size === 0) return taken(signal);
      return new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(enter);
          signal.removeEventListener('abort', gone);
        };
        const enter = (): void => {
          end();
          resolve(taken(signal));
        };
        const gone = (): void => {
          end();
          reject(signal.reason as Error);
        };
        const timer = setTimeout(() => {
          end();
          reject(noRoom());
        }, waitMs);
        waiting.add(enter);
        if (signal.aborted) gone();
        else signal.addEventListener('abort', gone, { once: true });
      });
    },
    hold: (bytes, signal) => void taken(signal, bytes),
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
