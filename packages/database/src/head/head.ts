import { hashBytes, hashText } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { selectHead } from './select-head.js';
import { upsertHead } from './upsert-head.js';

/** The part `head` of the database. */
export function createHead(connections: Connections, ids: NetworkIds): Database['head'] {
  return {
    set: async ({ network, number, hash, finalized }) => {
      await connections.query(upsertHead, [await ids.get(network), number, hashBytes(hash), finalized]);
    },
    get: async (network) => {
      const rows = await connections.query<{
        block: number;
        hash: Buffer;
        finalized: number;
        observed_at: Date;
      }>(selectHead, [network]);
      const [row] = rows;
      if (row === undefined) return null;
      return {
        network,
        number: row.block,
        hash: hashText(row.hash),
        finalized: row.finalized,
        observedAt: row.observed_at,
      };
    },
  };
}
