import { hashBytes, hashText } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';

/** $1 key id. Transactions that create filters of one key run one after another, so that each counts all filters. */
const lockFilters = statement(
  'filters/lock-filters',
  `SELECT pg_advisory_xact_lock(hashtextextended('packhouse:filters', $1::int8))`,
);

/** Needs lock-filters. $1 id, $2 network, $3 key id, $4 state, $5 milliseconds to live, $6 most filters of a key. */
const insertFilter = statement(
  'filters/insert-filter',
  `INSERT INTO packhouse.rpc_filter (id, network, key_id, state, expires_at)
   SELECT $1::bytea, $2::text, $3::int8, $4::text, now() + $5::float8 * interval '1 millisecond'
   WHERE (SELECT count(*) FROM packhouse.rpc_filter WHERE key_id = $3::int8 AND expires_at > now()) < $6::int8
   RETURNING 1 AS made`,
);

/** $1 id. */
const selectFilter = statement(
  'filters/select-filter',
  `SELECT network, key_id, state, version FROM packhouse.rpc_filter WHERE id = $1 AND expires_at > now()`,
);

/** $1 id, $2 version seen, $3 state, $4 milliseconds to live from now. */
const updateFilter = statement(
  'filters/update-filter',
  `UPDATE packhouse.rpc_filter
   SET state = $3, version = version % 2000000000 + 1, expires_at = now() + $4::float8 * interval '1 millisecond'
   WHERE id = $1 AND version = $2 AND expires_at > now()
   RETURNING version`,
);

/** $1 id, $2 network, $3 key id. */
const deleteFilter = statement(
  'filters/delete-filter',
  `DELETE FROM packhouse.rpc_filter WHERE id = $1 AND network = $2 AND key_id = $3 AND expires_at > now()
   RETURNING 1 AS gone`,
);

/** Filters that have not expired, by network. */
const countFilters = statement(
  'filters/count-filters',
  `SELECT network, count(*) AS filters FROM packhouse.rpc_filter WHERE expires_at > now() GROUP BY network`,
);

/** Ten thousand at a time, so that each statement is short. */
const deleteExpiredFilters = statement(
  'filters/delete-expired-filters',
  `DELETE FROM packhouse.rpc_filter WHERE id IN (
     SELECT id FROM packhouse.rpc_filter WHERE expires_at <= now() LIMIT 10000 FOR UPDATE SKIP LOCKED
   )`,
);

/**
 * $1 network, $2 hashes. Known hashes are left out, so that they use up no number. A hash that is still seen must not
 * expire, or it would be numbered again; its time is updated once a minute and not each time.
 */
const insertPending = statement(
  'filters/insert-pending',
  `WITH seen AS MATERIALIZED (
     SELECT hash, place FROM unnest($2::bytea[]) WITH ORDINALITY AS seen (hash, place)
   ), still AS (
     UPDATE packhouse.pending_transaction AS p SET seen_at = now()
     FROM seen
     WHERE p.network = $1::text AND p.hash = seen.hash AND p.seen_at < now() - interval '1 minute'
   )
   INSERT INTO packhouse.pending_transaction (network, hash)
   SELECT $1::text, seen.hash
   FROM seen
   WHERE NOT EXISTS (
     SELECT 1 FROM packhouse.pending_transaction AS p WHERE p.network = $1::text AND p.hash = seen.hash
   )
   ORDER BY seen.place
   ON CONFLICT DO NOTHING`,
);

/** $1 network. */
const selectNewestPending = statement(
  'filters/select-newest-pending',
  'SELECT coalesce(max(sequence), 0) AS sequence FROM packhouse.pending_transaction WHERE network = $1',
);

/** $1 network, $2 sequence number to begin after, $3 limit. */
const selectPending = statement(
  'filters/select-pending',
  `SELECT sequence, hash FROM packhouse.pending_transaction
   WHERE network = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
);

/** An unpolled filter expires after five minutes, so every filter has returned hashes not seen for twice as long. */
const deleteOldPending = statement(
  'filters/delete-old-pending',
  `DELETE FROM packhouse.pending_transaction WHERE seen_at < now() - interval '10 minutes'`,
);

/** Filters of the JSON-RPC interface, and the pending transactions that some of them return. */
export function createFilters(connections: Connections): Database['filters'] {
  return {
    create: async ({ id, network, keyId, state, ttlMs, maxOfKey }) => {
      const values = [id, network, keyId, state, ttlMs, maxOfKey];
      const made = await connections.transaction(async (session) => {
        await session.query(lockFilters, [keyId]);
        return session.query(insertFilter, values);
      });
      return made.length > 0;
    },
    get: async (id) => {
      const [row] = await connections.query<FilterRecord>(selectFilter, [id]);
      if (row === undefined) return null;
      return { network: row.network, keyId: row.key_id, state: row.state, version: row.version };
    },
    update: async ({ id, version, state, ttlMs }) => {
      const values = [id, version, state, ttlMs];
      const [written] = await connections.query<{ version: number }>(updateFilter, values);
      return written?.version ?? null;
    },
    remove: async ({ id, network, keyId }) =>
      (await connections.query(deleteFilter, [id, network, keyId])).length > 0,
    count: async () => {
      const rows = await connections.query<{ network: string; filters: number }>(countFilters, []);
      return new Map(rows.map((row) => [row.network, row.filters]));
    },
    sweep: async () => {
      await connections.query(deleteExpiredFilters, []);
      await connections.query(deleteOldPending, []);
    },
    addPending: async (network, hashes) => {
      if (hashes.length > 0) await connections.query(insertPending, [network, hashes.map(hashBytes)]);
    },
    newestPending: async (network) => {
      const [row] = await connections.query<{ sequence: number }>(selectNewestPending, [network]);
      return row?.sequence ?? 0;
    },
    pendingAfter: async (network, sequence, limit) => {
      const values = [network, sequence, limit];
      const rows = await connections.query<{ sequence: number; hash: Buffer }>(selectPending, values);
      return { hashes: rows.map((row) => hashText(row.hash)), sequence: rows.at(-1)?.sequence ?? sequence };
    },
  };
}

interface FilterRecord {
  network: string;
  key_id: number;
  state: string;
  version: number;
}
