import type { Connections } from '../connection/connections.js';
import { insertOrigin } from './insert-origin.js';
import { selectOrigin } from './select-origin.js';

/** More nodes than this never give one bundle's blocks; what is beyond is not named. */
const MAX_CLIENTS = 16;
/** Ids remembered. */
const MAX_KNOWN = 1_000;

/** Knows the ids of origins: who packed a bundle, of what nodes' answers. An id never changes. */
export interface OriginIds {
  /** Makes the origin known where it is not. */
  get(producer: string, clients: readonly string[]): Promise<Origin>;
}

/** Who packed a bundle, of what nodes' answers. */
export interface Origin {
  id: number;
  producer: string;
  /** Each once, in the order of their texts. */
  clients: readonly string[];
}

/** Makes the memory of ids. */
export function createOriginIds(connections: Connections): OriginIds {
  const known = new Map<string, Origin>();
  return {
    async get(producer, given) {
      const clients = [...new Set(given)].sort().slice(0, MAX_CLIENTS);
      const values = [producer, clients];
      const text = JSON.stringify(values);
      const before = known.get(text);
      if (before !== undefined) return before;
      for (;;) {
        const [row] = await connections.query<{ id: number }>(selectOrigin, values);
        if (row === undefined) {
          await connections.query(insertOrigin, values);
          continue;
        }
        if (known.size >= MAX_KNOWN) known.clear();
        const origin = { id: row.id, producer, clients };
        known.set(text, origin);
        return origin;
      }
    },
  };
}
