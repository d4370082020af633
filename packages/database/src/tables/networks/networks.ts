import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../../connection/connections.js';
import { createMemory } from '../../connection/memory.js';

/**
 * $1 name, $2 chain id.
 *
 * The sub-select saves ids: `ON CONFLICT` alone uses up a number each time, and there are 32,767.
 */
const insertNetwork = statement(
  'networks/insert-network',
  `INSERT INTO packhouse.network (name, chain_id)
   SELECT $1::text, $2::int8
   WHERE NOT EXISTS (SELECT 1 FROM packhouse.network WHERE name = $1::text)
   ON CONFLICT (name) DO NOTHING`,
);

/** $1 name. */
const selectNetwork = statement(
  'networks/select-network',
  'SELECT id, chain_id AS "chainId" FROM packhouse.network WHERE name = $1',
);

/** All networks, in the order they were registered. */
const selectNetworks = statement(
  'networks/select-networks',
  'SELECT name AS id, chain_id AS "chainId" FROM packhouse.network n ORDER BY n.id',
);

type RegisteredNetwork = {
  id: string;
  chainId: number;
};

/** The registered networks. */
export function createNetworks(connections: Connections) {
  return {
    /** Stores the network; its id never changes. Throws NODE_WRONG_CHAIN if it is stored with another chain id. */
    async register({ id, chainId }: RegisteredNetwork): Promise<void> {
      await connections.query(insertNetwork, [id, chainId]);
      const row = await connections.queryOne<{ chainId: number }>(selectNetwork, [id]);
      if (row === null || row.chainId === chainId) return;
      throw new PackhouseError({
        code: 'NODE_WRONG_CHAIN',
        message: `Network "${id}" has chain id ${row.chainId} in the database, and now it is given as ${chainId}.`,
        hint: 'Give the other chain another network name, or use another database.',
        data: { network: id, expected: row.chainId, got: chainId },
      });
    },
    list: () => connections.query<RegisteredNetwork>(selectNetworks, []),
  };
}

/** A network and its stored id, for the other tables. */
export interface NetworkRef {
  name: string;
  /** Its stored id; 0, an id that no network has, if it was never registered: queries then find nothing. */
  find(): Promise<number>;
  /** Its stored id. Throws NETWORK_UNKNOWN. */
  get(): Promise<number>;
}

/** Refers to a network by name. Its id never changes, so it is read once. */
export function networkRef(connections: Connections, name: string): NetworkRef {
  const memory = createMemory(connections, () => ({ id: 0 }));
  const find = async (): Promise<number> => {
    const known = memory();
    if (known.id === 0)
      known.id = (await connections.queryOne<{ id: number }>(selectNetwork, [name]))?.id ?? 0;
    return known.id;
  };
  return {
    name,
    find,
    get: async () => {
      const id = await find();
      if (id !== 0) return id;
      throw new PackhouseError({
        code: 'NETWORK_UNKNOWN',
        message: `Unknown network "${name}".`,
        hint: 'A network becomes known when an ingester that has it in its networks file starts.',
        data: { network: name },
      });
    },
  };
}
