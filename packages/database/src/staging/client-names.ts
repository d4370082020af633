import { type Connections, statement } from '../connection/connections.js';
import { createMemory } from '../connection/memory.js';

/** $1 name. */
const selectClient = statement(
  'staging/select-client',
  'SELECT id FROM packhouse.node_client WHERE name = $1',
);

/**
 * $1 name. An upstream that returns another name at each request must not use up the ids: beyond 10,000 names no new
 * one is stored.
 */
const insertClient = statement(
  'staging/insert-client',
  `INSERT INTO packhouse.node_client (name)
   SELECT $1::text
   WHERE (SELECT count(*) FROM packhouse.node_client) < 10000
   ON CONFLICT (name) DO NOTHING`,
);

/** $1 ids (int4[]). */
const selectClientNames = statement(
  'staging/select-client-names',
  'SELECT id, name FROM packhouse.node_client WHERE id = ANY($1::int4[])',
);

/** Most characters of a name. */
const MAX_LENGTH = 100;

/** The stored ids of client names (web3_clientVersion); an id never changes. */
export type ClientNames = ReturnType<typeof createClientNames>;

/** Creates the cache of names; it grows to 10,000 at most (see insert-client). */
export function createClientNames(connections: Connections) {
  const memory = createMemory(connections, () => ({
    ids: new Map<string, number>(),
    names: new Map<number, string>(),
  }));
  type Known = ReturnType<typeof memory>;
  const note = (known: Known, id: number, name: string): void => {
    known.ids.set(name, id);
    known.names.set(id, name);
  };

  const find = async (known: Known, name: string): Promise<number | null> => {
    const row = await connections.queryOne<{ id: number }>(selectClient, [name]);
    if (row === null) return null;
    note(known, row.id, name);
    return row.id;
  };

  return {
    /** Stores new names and returns the ids; null if no more names can be stored. */
    async ids(names: Iterable<string>): Promise<ReadonlyMap<string, number | null>> {
      const found = new Map<string, number | null>();
      const known = memory();
      for (const name of new Set(names)) {
        const text = plain(name);
        let id = known.ids.get(text) ?? (await find(known, text));
        if (id === null) {
          await connections.query(insertClient, [text]);
          id = await find(known, text);
        }
        found.set(name, id);
      }
      return found;
    },
    /** The names of ids. */
    async names(ids: Iterable<number>): Promise<ReadonlyMap<number, string>> {
      const known = memory();
      const unknown = [...new Set(ids)].filter((id) => !known.names.has(id));
      if (unknown.length > 0) {
        const rows = await connections.query<{ id: number; name: string }>(selectClientNames, [unknown]);
        for (const { id, name } of rows) note(known, id, name);
      }
      return known.names;
    },
  };
}

/** A name as printable ASCII of limited length, for signed texts and index rows. */
function plain(name: string): string {
  return name.replace(/[^ -~]+/g, '?').slice(0, MAX_LENGTH);
}
