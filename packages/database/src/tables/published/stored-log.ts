import type { Kind } from '@packhouse/chain';
import { getKind, kindCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';

/** $1 network id, $2 kind. */
const selectStored = statement(
  'stored-log/select-stored',
  'SELECT sequence FROM packhouse.manifest_stored WHERE network_id = $1 AND kind = $2',
);

/** $1 network id, $2 kind, $3 sequence: never goes back. */
const upsertStored = statement(
  'stored-log/upsert-stored',
  `INSERT INTO packhouse.manifest_stored AS s (network_id, kind, sequence)
   VALUES ($1, $2, $3)
   ON CONFLICT (network_id, kind) DO UPDATE SET sequence = greatest(s.sequence, excluded.sequence)`,
);

/** The logs that end behind what is stored: one step in the manifest's primary key for each. */
const selectUnstored = statement(
  'stored-log/select-unstored',
  `SELECT network.name AS network, log.kind
   FROM packhouse.published AS log
   JOIN packhouse.network ON network.id = log.network_id
   CROSS JOIN LATERAL (
     SELECT sequence FROM packhouse.manifest
     WHERE network_id = log.network_id AND kind = log.kind
     ORDER BY sequence DESC
     LIMIT 1
   ) AS tip
   LEFT JOIN packhouse.manifest_stored AS stored
     ON stored.network_id = log.network_id AND stored.kind = log.kind
   WHERE tip.sequence > coalesce(stored.sequence, -1)
   ORDER BY network.name, log.kind`,
);

/** How much of a network's signed logs is in the object store. */
export function createStoredLog(connections: Connections, network: NetworkRef) {
  return {
    /** Sequence of the last entry that is in the object store; -1: none. */
    async storedUpTo(kind: Kind): Promise<number> {
      const values = [await network.find(), kindCode(kind)];
      return (await connections.queryOne<{ sequence: number }>(selectStored, values))?.sequence ?? -1;
    },
    /** Notes that all entries up to this one are in the object store. */
    async noteStored(kind: Kind, sequence: number): Promise<void> {
      await connections.query(upsertStored, [await network.get(), kindCode(kind), sequence]);
    },
  };
}

/** The logs with entries that are not in the object store yet. */
export async function unstoredLogs(connections: Connections): Promise<{ network: string; kind: Kind }[]> {
  const rows = await connections.query<{ network: string; kind: number }>(selectUnstored, []);
  return rows.map(({ network, kind }) => ({ network, kind: getKind(kind) }));
}
