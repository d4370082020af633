import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { NetworkIds } from './networks.js';

/** $1 network id, $2 staged bytes, $3 limit in bytes. It counts from when it was noted first. */
const upsertPressure = statement(
  'pressure/upsert-pressure',
  `INSERT INTO packhouse.back_pressure (network_id, staged_bytes, limit_bytes) VALUES ($1, $2, $3)
   ON CONFLICT (network_id) DO UPDATE SET staged_bytes = excluded.staged_bytes, limit_bytes = excluded.limit_bytes`,
);

/** $1 network id. */
const deletePressure = statement(
  'pressure/delete-pressure',
  'DELETE FROM packhouse.back_pressure WHERE network_id = $1',
);

/** $1 network id. */
const selectPressure = statement(
  'pressure/select-pressure',
  `SELECT since, staged_bytes AS "stagedBytes", limit_bytes AS "limitBytes" FROM packhouse.back_pressure
   WHERE network_id = $1`,
);

/** Whether fetching for a network is stopped because the staging area is full. */
export function createPressure(connections: Connections, ids: NetworkIds): Database['pressure'] {
  return {
    note: async (network, { stagedBytes, limitBytes }) => {
      await connections.query(upsertPressure, [await ids.get(network), stagedBytes, limitBytes]);
    },
    clear: async (network) => {
      await connections.query(deletePressure, [await ids.find(network)]);
    },
    get: async (network) => {
      const values = [await ids.find(network)];
      const [row] = await connections.query<Pressure>(selectPressure, values);
      return row ?? null;
    },
  };
}

type Pressure = NonNullable<Awaited<ReturnType<Database['pressure']['get']>>>;
