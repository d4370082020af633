import { type Connections, statement } from '../connection/connections.js';
import { createMemory } from '../connection/memory.js';

/** $1 producer, $2 clients (text[]). */
const selectOrigin = statement(
  'publish/select-origin',
  'SELECT id FROM packhouse.manifest_origin WHERE producer = $1::text AND clients = $2::text[]',
);

/** $1 producer, $2 clients (text[]). */
const insertOrigin = statement(
  'publish/insert-origin',
  `INSERT INTO packhouse.manifest_origin (producer, clients)
   VALUES ($1::text, $2::text[])
   ON CONFLICT (producer, clients) DO NOTHING`,
);

/** Most clients that are stored for one bundle; more are not expected and not named. */
const MAX_CLIENTS = 16;
/** Ids remembered. */
const MAX_KNOWN = 1_000;

/** The producer of a bundle, and the clients of the upstreams that its blocks came from. */
export interface Origin {
  id: number;
  producer: string;
  /** Each once, sorted. */
  clients: readonly string[];
}

/** The stored ids of origins; an id never changes. */
export type OriginIds = ReturnType<typeof createOriginIds>;

/** Creates the cache of ids. */
export function createOriginIds(connections: Connections) {
  const memory = createMemory(connections, () => new Map<string, Origin>());
  return {
    /** Stores the origin if it is new. */
    async get(producer: string, given: readonly string[]): Promise<Origin> {
      const clients = [...new Set(given)].sort().slice(0, MAX_CLIENTS);
      const values = [producer, clients];
      const text = JSON.stringify(values);
      const known = memory();
      const before = known.get(text);
      if (before !== undefined) return before;
      for (;;) {
        const row = await connections.queryOne<{ id: number }>(selectOrigin, values);
        if (row === null) {
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
