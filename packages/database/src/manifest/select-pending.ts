import { BUNDLE_COLUMNS, type StoredBundle } from '../bundles/bundle-row.js';
import { statement } from '../connection/statement.js';

/** A bundle that has no entry yet; the bundle's own columns are null where it was deleted meanwhile. */
export type PendingRow = { pending_start: number; pending_version: number; supersedes: Buffer | null } & (
  | StoredBundle
  | { [column in keyof StoredBundle]: null }
);

/** $1 network id, $2 kind, $3 limit: the first by block and version, whether they are current or superseded. */
export const selectPending = statement(
  'manifest/select-pending',
  `SELECT pending.start_block AS pending_start, pending.version AS pending_version, row.*,
     (SELECT before.sha256 FROM packhouse.superseded_bundle AS before
      WHERE before.network_id = $1 AND before.kind = $2 AND before.start_block = pending.start_block
        AND before.version = pending.version - 1) AS supersedes
   FROM (
     SELECT start_block, version FROM packhouse.manifest_pending
     WHERE network_id = $1 AND kind = $2
     ORDER BY start_block, version
     LIMIT $3
   ) AS pending
   LEFT JOIN LATERAL (
     SELECT ${BUNDLE_COLUMNS} FROM packhouse.bundle
     WHERE network_id = $1 AND kind = $2 AND start_block = pending.start_block AND version = pending.version
     UNION ALL
     SELECT ${BUNDLE_COLUMNS} FROM packhouse.superseded_bundle
     WHERE network_id = $1 AND kind = $2 AND start_block = pending.start_block AND version = pending.version
   ) AS row ON true
   ORDER BY pending.start_block, pending.version`,
);
