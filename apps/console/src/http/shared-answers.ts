import type { Clock } from '@packhouse/runtime';

/** Answers that are remembered at most, and their characters together. */
const MOST_ANSWERS = 1_000;
const MOST_CHARACTERS = 67_108_864;

/** Returns the answer of this name, at most so many milliseconds old, or reads it; failures are not remembered. */
type SharedAnswers = (name: string, forMs: number, read: () => Promise<string>) => Promise<string>;

/**
 * Creates the memory of answers that many pages ask for alike: those who ask while one is read wait for it, so that
 * Postgres reads each once, however many ask. What is remembered is bounded; the oldest is forgotten first.
 */
export function createSharedAnswers(clock: Pick<Clock, 'elapsed'>): SharedAnswers {
  const answers = new Map<string, { answer: Promise<string>; until: number; length: number }>();
  let characters = 0;

  const forget = (name: string): void => {
    characters -= answers.get(name)?.length ?? 0;
    answers.delete(name);
  };

  return (name, forMs, read) => {
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
          if (answers.size <= MOST_ANSWERS && characters <= MOST_CHARACTERS) break;
          forget(oldest);
        }
      },
      () => {
        if (answers.get(name) === entry) forget(name);
      },
    );
    return answer;
  };
}
