import { PackhouseError } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import { insertNetwork } from './insert-network.js';
import { selectNetwork } from './select-network.js';
import { selectNetworks } from './select-networks.js';

/** Knows the networks' ids; an id never changes, so it is asked for once. */
export interface NetworkIds {
  /** undefined where the network was never registered. */
  find(name: string): Promise<number | undefined>;
  /** Throws NETWORK_UNKNOWN. */
  get(name: string): Promise<number>;
}

/** Makes the memory of ids. */
export function createNetworkIds(connections: Connections): NetworkIds {
  const known = new Map<string, number>();
  const find = async (name: string): Promise<number | undefined> => {
    const id = known.get(name) ?? (await connections.query<{ id: number }>(selectNetwork, [name]))[0]?.id;
    if (id !== undefined) known.set(name, id);
    return id;
  };
  return {
    find,
    get: async (name) => {
      const id = await find(name);
      if (id !== undefined) return id;
      throw new PackhouseError({
        code: 'NETWORK_UNKNOWN',
        message: `The database does not know a network "${name}".`,
        hint: 'A network becomes known when an ingester that has it in its networks file starts.',
        data: { network: name },
      });
    },
  };
}

/** The part `networks` of the database. */
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
