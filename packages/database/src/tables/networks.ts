import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';

/**
 * $1 name, $2 chain id.
 *
 * The sub-select spares the identity: `ON CONFLICT` alone takes a number each time, and there are 32,767.
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
  'SELECT id, chain_id FROM packhouse.network WHERE name = $1',
);

/** All networks, in the order they became known. */
const selectNetworks = statement(
  'networks/select-networks',
  'SELECT name, chain_id FROM packhouse.network ORDER BY id',
);

/** The networks that the database knows. */
export function createNetworks(connections: Connections): Database['networks'] {
  return {
    register: async ({ id, chainId }) => {
      await connections.query(insertNetwork, [id, chainId]);
      const [row] = await connections.query<{ chain_id: number }>(selectNetwork, [id]);
      if (row === undefined || row.chain_id === chainId) return;
      throw new PackhouseError({
        code: 'NODE_WRONG_CHAIN',
        message: `Network "${id}" has chain id ${row.chain_id} in the database, and now it is given as ${chainId}.`,
        hint: 'Give the other chain another network name, or use another database.',
        data: { network: id, expected: row.chain_id, got: chainId },
      });
    },
    list: async () => {
      const rows = await connections.query<{ name: string; chain_id: number }>(selectNetworks, []);
      return rows.map((row) => ({ id: row.name, chainId: row.chain_id }));
    },
  };
}

/** The stored ids of networks. An id never changes, so each is read once. */
export interface NetworkIds {
  /** 0, which is no network's id, if the network was never registered: queries then find nothing. */
  find(name: string): Promise<number>;
  /** Throws NETWORK_UNKNOWN. */
  get(name: string): Promise<number>;
}

/** Makes the cache of ids. */
export function createNetworkIds(connections: Connections): NetworkIds {
  const known = new Map<string, number>();
  const find = async (name: string): Promise<number> => {
    const id = known.get(name) ?? (await connections.query<{ id: number }>(selectNetwork, [name]))[0]?.id;
    if (id === undefined) return 0;
    known.set(name, id);
    return id;
  };
  return {
    find,
    get: async (name) => {
      const id = await find(name);
      if (id !== 0) return id;
      throw new PackhouseError({
        code: 'NETWORK_UNKNOWN',
        message: `The database does not know a network "${name}".`,
        hint: 'A network becomes known when an ingester that has it in its networks file starts.',
        data: { network: name },
      });
    },
  };
}
