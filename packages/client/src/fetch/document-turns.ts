import { getOrAdd, REQUESTS_AT_ONCE } from '@packhouse/runtime';

/** Waits for a turn to ask for a document, and returns what ends it; at once if the gateway answers any number. */
export type DocumentTurns = (url: string) => Promise<() => void>;

const DOCUMENT = /\/bundle-api\/(\w+)(?:\?|$)/;

/** Lets as many requests for a document run as a gateway answers to one key at a time, the others after them in order. */
export function createDocumentTurns(): DocumentTurns {
  const documents = new Map<string, { running: number; waiting: (() => void)[] }>();
  return async (url) => {
    const [, name = ''] = DOCUMENT.exec(url) ?? [];
    const limit = (REQUESTS_AT_ONCE as Partial<Record<string, number>>)[name];
    if (limit === undefined) return () => undefined;
    const document = getOrAdd(documents, name, () => ({ running: 0, waiting: [] }));
    if (document.running < limit) document.running += 1;
    else await new Promise<void>((begin) => document.waiting.push(begin));
    return () => {
      const next = document.waiting.shift();
      if (next === undefined) document.running -= 1;
      else next();
    };
  };
}
