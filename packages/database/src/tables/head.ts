import { hashBytes, hashText } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { NetworkIds } from './networks.js';

/** $1 network id, $2 number, $3 hash, $4 finalized number. The row is small and updated in place (HOT). */
const upsertHead = statement(
  'head/upsert-head',
  `INSERT INTO packhouse.head (network_id, block, hash, finalized, observed_at)
   VALUES ($1, $2, $3, $4, now())
   ON CONFLICT (network_id) DO UPDATE SET
     block = excluded.block, hash = excluded.hash,
     finalized = excluded.finalized, observed_at = excluded.observed_at`,
);

/** $1 network. */
const selectHead = statement(
  'head/select-head',
  `SELECT h.block, h.hash, h.finalized, h.observed_at
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1`,
);

/** $1 network. */
const selectAnchor = statement(
  'head/select-anchor',
  `SELECT h.anchor_block AS block, h.anchor_hash AS hash
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1 AND h.anchor_block IS NOT NULL AND h.anchor_hash IS NOT NULL`,
);

/** $1 network id, $2 number, $3 hash; both null to forget it. */
const updateAnchor = statement(
  'head/update-anchor',
  `UPDATE packhouse.head SET anchor_block = $2::int8, anchor_hash = $3::bytea WHERE network_id = $1`,
);

/** The newest block of a network, and the final block that its chain must keep. */
export function createHead(connections: Connections, ids: NetworkIds): Database['head'] {
  return {
    set: async ({ network, number, hash, finalized }) => {
      await connections.query(upsertHead, [await ids.get(network), number, hashBytes(hash), finalized]);
    },
    get: async (network) => {
      const [row] = await connections.query<StoredHead>(selectHead, [network]);
      if (row === undefined) return null;
      const { block: number, hash, finalized, observed_at: observedAt } = row;
      return { network, number, hash: hashText(hash), finalized, observedAt };
    },
    anchor: async (network) => {
      const [row] = await connections.query<Pick<StoredHead, 'block' | 'hash'>>(selectAnchor, [network]);
      return row === undefined ? null : { number: row.block, hash: hashText(row.hash) };
    },
    setAnchor: async (network, anchor) => {
      const hash = anchor === null ? null : hashBytes(anchor.hash);
      await connections.query(updateAnchor, [await ids.get(network), anchor?.number ?? null, hash]);
    },
  };
}

interface StoredHead {
  block: number;
  hash: Buffer;
  finalized: number;
  observed_at: Date;
}
