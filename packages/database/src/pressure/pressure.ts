import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { deletePressure } from './delete-pressure.js';
import { selectPressure } from './select-pressure.js';
import { upsertPressure } from './upsert-pressure.js';

/** The part `pressure` of the database. */
export function createPressure(connections: Connections, ids: NetworkIds): Database['pressure'] {
  return {
    note: async (network, { stagedBytes, limitBytes }) => {
      await connections.query(upsertPressure, [await ids.get(network), stagedBytes, limitBytes]);
    },
    clear: async (network) => {
      const id = await ids.find(network);
      if (id !== undefined) await connections.query(deletePressure, [id]);
    },
    get: async (network) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const rows = await connections.query<{ since: Date; staged_bytes: number; limit_bytes: number }>(
        selectPressure,
        [id],
      );
      const [row] = rows;
      if (row === undefined) return null;
      return { since: row.since, stagedBytes: row.staged_bytes, limitBytes: row.limit_bytes };
    },
  };
}
