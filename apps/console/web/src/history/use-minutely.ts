import { useEffect, useState } from 'preact/hooks';
import type { Answer, Input, OperationName } from '../lib/answers.js';
import { read } from '../lib/api.js';

const EVERY_MS = 60_000;

/** What was read last, by operation and input: many sparklines of a page share one answer. */
const shared = new Map<string, { at: number; reading: Promise<unknown> }>();

/** Reads at once and every minute while the page is visible, once for all that read the same; undefined: not yet. */
export function useMinutely<N extends OperationName>(name: N, input: Input<N>): Answer<N> | undefined {
  const [value, setValue] = useState<Answer<N>>();
  const query = JSON.stringify(input);
  useEffect(() => {
    let gone = false;
    const key = `${name} ${query}`;
    const load = (): void => {
      if (document.hidden) return;
      let last = shared.get(key);
      if (last === undefined || performance.now() - last.at > EVERY_MS / 2) {
        last = { at: performance.now(), reading: read(name, JSON.parse(query)) };
        shared.set(key, last);
      }
      last.reading.then(
        (answer) => {
          if (!gone) setValue(() => answer as Answer<N>);
        },
        // The curve that opens says what is wrong.
        () => shared.delete(key),
      );
    };
    load();
    const timer = setInterval(load, EVERY_MS);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [name, query]);
  return value;
}
