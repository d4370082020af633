import { hashBytes, hashText } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { selectAnchor } from './select-anchor.js';
import { selectHead } from './select-head.js';
import { updateAnchor } from './update-anchor.js';
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
    anchor: async (network) => {
      const [row] = await connections.query<{ block: number; hash: Buffer }>(selectAnchor, [network]);
      return row === undefined ? null : { number: row.block, hash: hashText(row.hash) };
    },
    setAnchor: async (network, anchor) => {
      const hash = anchor === null ? null : hashBytes(anchor.hash);
      await connections.query(updateAnchor, [await ids.get(network), anchor?.number ?? null, hash]);
    },
  };
}
