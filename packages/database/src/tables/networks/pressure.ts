import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from './networks.js';

/** $1 network id, $2 staged bytes, $3 limit in bytes. Keeps the time of the first call. */
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

type Pressure = {
  since: Date;
  stagedBytes: number;
  limitBytes: number;
};

/** Whether fetching for a network is stopped because the staging area is full. */
export function createPressure(connections: Connections, network: NetworkRef) {
  return {
    note: async ({ stagedBytes, limitBytes }: Omit<Pressure, 'since'>) =>
      void (await connections.query(upsertPressure, [await network.get(), stagedBytes, limitBytes])),
    clear: async () => void (await connections.query(deletePressure, [await network.find()])),
    get: async () => connections.queryOne<Pressure>(selectPressure, [await network.find()]),
  };
}
