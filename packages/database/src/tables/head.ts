import { hashBytes, hashText } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkDatabase } from '../contract/database.js';
import type { NetworkRef } from './networks.js';

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
export function createHead(connections: Connections, network: NetworkRef): NetworkDatabase['head'] {
  return {
    set: async ({ number, hash, finalized }) => {
      await connections.query(upsertHead, [await network.get(), number, hashBytes(hash), finalized]);
    },
    get: async () => {
      const [row] = await connections.query<StoredHead>(selectHead, [network.name]);
      if (row === undefined) return null;
      const { block: number, hash, finalized, observed_at: observedAt } = row;
      return { network: network.name, number, hash: hashText(hash), finalized, observedAt };
    },
    anchor: async () => {
      const [row] = await connections.query<Pick<StoredHead, 'block' | 'hash'>>(selectAnchor, [network.name]);
      return row === undefined ? null : { number: row.block, hash: hashText(row.hash) };
    },
    setAnchor: async (anchor) => {
      const hash = anchor === null ? null : hashBytes(anchor.hash);
      await connections.query(updateAnchor, [await network.get(), anchor?.number ?? null, hash]);
    },
  };
}

interface StoredHead {
  block: number;
  hash: Buffer;
  finalized: number;
  observed_at: Date;
}
