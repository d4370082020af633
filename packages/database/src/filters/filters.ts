import { hashBytes, hashText } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import { countFilters } from './count-filters.js';
import { deleteExpiredFilters } from './delete-expired-filters.js';
import { deleteFilter } from './delete-filter.js';
import { deleteOldPending } from './delete-old-pending.js';
import { insertFilter } from './insert-filter.js';
import { insertPending } from './insert-pending.js';
import { lockFilters } from './lock-filters.js';
import { selectFilter } from './select-filter.js';
import { selectNewestPending } from './select-newest-pending.js';
import { selectPending } from './select-pending.js';
import { updateFilter } from './update-filter.js';

interface FilterRecord {
  network: string;
  key_id: number;
  state: string;
  version: number;
}

/** The part `filters` of the database. */
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
      const written = await connections.query(updateFilter, [id, version, state, ttlMs]);
      return written.length > 0;
    },
    remove: async ({ id, network, keyId }) => {
      const gone = await connections.query(deleteFilter, [id, network, keyId]);
      return gone.length > 0;
    },
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
      const rows = await connections.query<{ sequence: number; hash: Buffer }>(selectPending, [
        network,
        sequence,
        limit,
      ]);
      return { hashes: rows.map((row) => hashText(row.hash)), sequence: rows.at(-1)?.sequence ?? sequence };
    },
  };
}
