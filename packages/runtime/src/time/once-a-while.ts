/** Tells whether words may be logged now, and how often they were left out since the last time. */
type OnceAWhile = (words: string) => { say: boolean; hidden: number };

/** Most words that are remembered; beyond that the oldest are removed. */
const MAX_WORDS = 1_000;

/**
 * Allows the same words once in `everyMs` milliseconds. Words are the same if only numbers and hashes in them differ:
 * an upstream that fails every block is one problem, not a million.
 */
export function createOnceAWhile(everyMs: number, elapsed: () => number): OnceAWhile {
  const said = new Map<string, { at: number; hidden: number }>();
  return (words) => {
    const key = words.slice(0, 1_000).replace(/\b0x[0-9a-f]+\b|\b[0-9a-f]{32,}\b|\d+/gi, '#');
    const before = said.get(key);
    const time = elapsed();
    if (before !== undefined && time - before.at < everyMs) {
      before.hidden += 1;
      return { say: false, hidden: before.hidden };
    }
    said.delete(key);
    if (said.size >= MAX_WORDS) said.delete(said.keys().next().value as string);
    said.set(key, { at: time, hidden: 0 });
    return { say: true, hidden: before?.hidden ?? 0 };
  };
}
