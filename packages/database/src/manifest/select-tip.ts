import { statement } from '../connection/statement.js';

/** What the next entry goes on from. */
export interface TipRow {
  sequence: number | null;
  hash: Buffer | null;
  chain_id: number;
  now: Date;
  /** Of the signer's key, null where it was never registered. */
  key: number | null;
  retired: boolean | null;
  current: string | null;
}

/** $1 network id, $2 kind, $3 the signer's key id: one step at the end of the primary key, and two tiny tables. */
export const selectTip = statement(
  'manifest/select-tip',
  `SELECT tip.sequence, tip.hash, network.chain_id, date_trunc('milliseconds', clock_timestamp()) AS now,
     key.id AS key, key.retired_at IS NOT NULL AS retired,
     (SELECT key_id FROM packhouse.signing_key WHERE retired_at IS NULL) AS current
   FROM packhouse.network
   LEFT JOIN LATERAL (
     SELECT sequence, hash FROM packhouse.manifest
     WHERE network_id = $1 AND kind = $2
     ORDER BY sequence DESC
     LIMIT 1
   ) AS tip ON true
   LEFT JOIN packhouse.signing_key AS key ON key.key_id = $3
   WHERE network.id = $1`,
);
