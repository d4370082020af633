import type { Clock } from '@packhouse/runtime';

/** Cached answers, and their characters. */
const MAX_ANSWERS = 1_000;
const MAX_CHARACTERS = 67_108_864;

/** Answers that requests share. */
interface SharedAnswers {
  /** Returns the cached answer if it is younger than `forMs`, or reads it; failures are not cached. */
  get(name: string, forMs: number, read: () => Promise<string>): Promise<string>;
  /** Forgets all: something has changed. */
  clear(): void;
}

/** Creates a bounded cache of answers: requests that arrive while one is read share it. */
export function createSharedAnswers(clock: Pick<Clock, 'elapsed'>): SharedAnswers {
  const answers = new Map<string, { answer: Promise<string>; until: number; length: number }>();
  let characters = 0;

  const forget = (name: string): void => {
    characters -= answers.get(name)?.length ?? 0;
    answers.delete(name);
  };

  const get: SharedAnswers['get'] = (name, forMs, read) => {
    const there = answers.get(name);
    if (there !== undefined && there.until > clock.elapsed()) return there.answer;
    forget(name);
    const answer = read();
    // While it is read, it has no end.
    const entry = { answer, until: Number.POSITIVE_INFINITY, length: 0 };
    answers.set(name, entry);
    answer.then(
      ({ length }) => {
        entry.until = clock.elapsed() + forMs;
        if (answers.get(name) !== entry) return;
        entry.length = length;
        characters += length;
        for (const oldest of answers.keys()) {
          if (answers.size <= MAX_ANSWERS && characters <= MAX_CHARACTERS) break;
          forget(oldest);
        }
      },
      () => {
        if (answers.get(name) === entry) forget(name);
      },
    );
    return answer;
  };

  return {
    get,
    clear() {
      answers.clear();
      characters = 0;
    },
  };
}
