import { hashBytes, hashText } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';

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
  `SELECT network, key_id AS "keyId", state, version FROM packhouse.rpc_filter WHERE id = $1 AND expires_at > now()`,
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

type Filter = {
  /** 16 bytes. */
  id: Buffer;
  network: string;
  /** Negative: a client without a key. */
  keyId: number;
  state: string;
  version: number;
  ttlMs: number;
};

/** Filters of the JSON-RPC interface and their pending transactions, shared by all gateways; expired ones are not found. */
export function createFilters(connections: Connections) {
  return {
    /** Returns false if the key has `maxOfKey` filters already. */
    async create({
      id,
      network,
      keyId,
      state,
      ttlMs,
      maxOfKey,
    }: Omit<Filter, 'version'> & { maxOfKey: number }) {
      const values = [id, network, keyId, state, ttlMs, maxOfKey];
      const made = await connections.transaction(async (session) => {
        await session.query(lockFilters, [keyId]);
        return session.query(insertFilter, values);
      });
      return made.length > 0;
    },
    get: (id: Buffer) => connections.queryOne<Omit<Filter, 'id' | 'ttlMs'>>(selectFilter, [id]),
    /** Compare and set: returns the new version; null if the filter changed since `version` was read, or is gone. */
    async update({ id, version, state, ttlMs }: Omit<Filter, 'network' | 'keyId'>): Promise<number | null> {
      const values = [id, version, state, ttlMs];
      return (await connections.queryOne<Pick<Filter, 'version'>>(updateFilter, values))?.version ?? null;
    },
    /** Returns false if this key has no such filter. */
    remove: async ({ id, network, keyId }: Pick<Filter, 'id' | 'network' | 'keyId'>) =>
      (await connections.query(deleteFilter, [id, network, keyId])).length > 0,
    /** Filters that have not expired, by network. */
    async count(): Promise<ReadonlyMap<string, number>> {
      const rows = await connections.query<{ network: string; filters: number }>(countFilters, []);
      return new Map(rows.map((row) => [row.network, row.filters]));
    },
    /** Deletes expired filters. */
    async sweep(): Promise<void> {
      await connections.query(deleteExpiredFilters, []);
      await connections.query(deleteOldPending, []);
    },
    /** Numbers hashes of pending transactions in this order; a known hash keeps its number as long as it is seen. */
    async addPending(network: string, hashes: readonly string[]): Promise<void> {
      if (hashes.length > 0) await connections.query(insertPending, [network, hashes.map(hashBytes)]);
    },
    /** The number of the newest hash; 0 if there is none. */
    newestPending: async (network: string) =>
      (await connections.queryOne<{ sequence: number }>(selectNewestPending, [network]))?.sequence ?? 0,
    /** The hashes after a number, in order, and the number of the last of them. */
    async pendingAfter(network: string, sequence: number, limit: number) {
      const values = [network, sequence, limit];
      const rows = await connections.query<{ sequence: number; hash: Buffer }>(selectPending, values);
      return { hashes: rows.map((row) => hashText(row.hash)), sequence: rows.at(-1)?.sequence ?? sequence };
    },
  };
}
