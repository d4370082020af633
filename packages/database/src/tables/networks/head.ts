import { hashBytes } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import { type Fence, fenceValues } from '../../connection/leases.js';
import type { NetworkRef } from './networks.js';

export interface HeadRow {
  network: string;
  number: number;
  hash: string;
  /** -1 if nothing is final yet. */
  finalized: number;
  observedAt: Date;
}

/** $1 network id, $2 number, $3 hash, $4 finalized number, $5 to $7 fence. The row is small and updated in place (HOT). */
const upsertHead = statement(
  'head/upsert-head',
  `INSERT INTO packhouse.head (network_id, block, hash, finalized, observed_at)
   SELECT $1::int2, $2::int8, $3::bytea, $4::int8, now() FROM packhouse.require_lease($5, $6, $7)
   ON CONFLICT (network_id) DO UPDATE SET
     block = excluded.block, hash = excluded.hash,
     finalized = excluded.finalized, observed_at = excluded.observed_at`,
);

/** $1 network. */
const selectHead = statement(
  'head/select-head',
  `SELECT n.name AS network, h.block AS number, '0x' || encode(h.hash, 'hex') AS hash, h.finalized,
     h.observed_at AS "observedAt"
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1`,
);

/** $1 network. */
const selectAnchor = statement(
  'head/select-anchor',
  `SELECT h.anchor_block AS number, '0x' || encode(h.anchor_hash, 'hex') AS hash
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1 AND h.anchor_block IS NOT NULL AND h.anchor_hash IS NOT NULL`,
);

/** $1 network id, $2 number, $3 hash; both null to forget it; $4 to $6 fence. */
const updateAnchor = statement(
  'head/update-anchor',
  `UPDATE packhouse.head SET anchor_block = $2::int8, anchor_hash = $3::bytea
   FROM packhouse.require_lease($4, $5, $6) WHERE network_id = $1`,
);

type Anchor = Pick<HeadRow, 'number' | 'hash'>;

/** The newest block of a network, and the final block that its chain must keep. Writes need the fence, if there is one. */
export function createHead(connections: Connections, network: NetworkRef, fence?: Fence) {
  const fenced = fenceValues(fence);
  return {
    set: async ({ number, hash, finalized }: Omit<HeadRow, 'network' | 'observedAt'>) =>
      void (await connections.query(upsertHead, [
        await network.get(),
        number,
        hashBytes(hash),
        finalized,
        ...fenced,
      ])),
    get: () => connections.queryOne<HeadRow>(selectHead, [network.name]),
    /** The highest final block that was stored with its hash: it must stay in the chain for ever. */
    anchor: () => connections.queryOne<Anchor>(selectAnchor, [network.name]),
    /** Replaces the anchor; null removes it. Does nothing if no head is stored. */
    async setAnchor(anchor: Anchor | null): Promise<void> {
      const hash = anchor && hashBytes(anchor.hash);
      await connections.query(updateAnchor, [await network.get(), anchor?.number ?? null, hash, ...fenced]);
    },
  };
}
