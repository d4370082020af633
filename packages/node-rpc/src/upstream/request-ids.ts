import { randomInt } from 'node:crypto';

/** Room above it for 10⁹ requests whose ids fit into 32 bits, which is all that some proxies read. */
const MAX_FIRST = 2 ** 30;

/**
 * Creates the ids of the requests to one upstream: none is used twice, so that an answer cannot be taken for that to another
 * request. They begin anywhere, because a proxy may confuse the answers to several processes.
 */
export function createRequestIds() {
  let next = randomInt(1, MAX_FIRST);
  /** Returns the first of so many successive ids. */
  return (count: number): number => {
    const first = next;
    next += count;
    return first;
  };
}

/**
 * The place among so many ids from `first` on of one that is given as JSON text; undefined: it is none of them. Some nodes
 * answer with the number as text.
 */
export function findPlace(id: string | undefined, first: number, count: number): number | undefined {
  if (id === undefined) return undefined;
  const place = Number(id.startsWith('"') ? id.slice(1, -1) : id) - first;
  return Number.isInteger(place) && place >= 0 && place < count ? place : undefined;
}

/** Whether an answer has no id: JSON-RPC 2.0 lets errors have null in its place. */
export function isWithoutId(id: string | undefined): boolean {
  return id === undefined || id === 'null';
}
