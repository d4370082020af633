import type { Kind } from '@packhouse/chain';
import type { FilterFile, Signer } from '@packhouse/manifest';
import { kindCode } from '../connection/codes.js';
import { statement } from '../connection/connections.js';
import { STORED_BUNDLE, type StoredBundle, toBundle } from '../tables/published/bundles.js';
import { readTip } from '../tables/published/log-tip.js';
import { appendEntry } from './append-entry.js';
import { lockKind } from './insert-bundle.js';
import type { PublishTools } from './publish.js';

/** $1 network id, $2 kind, $3 limit: the first by block and version, current or superseded. */
const selectPending = statement(
  'publish/select-pending',
  `SELECT pending.first_block AS pending_start, pending.version AS pending_version, row.*,
     (SELECT encode(before.sha256, 'hex') FROM packhouse.superseded_bundle AS before
      WHERE before.network_id = $1 AND before.kind = $2 AND before.first_block = pending.first_block
        AND before.version = pending.version - 1) AS supersedes,
     CASE WHEN filter.sha256 IS NOT NULL THEN
       jsonb_build_object('bytes', filter.byte_length, 'sha256', encode(filter.sha256, 'hex'))
     END AS filter
   FROM (
     SELECT first_block, version FROM packhouse.manifest_pending
     WHERE network_id = $1 AND kind = $2
     ORDER BY first_block, version
     LIMIT $3
   ) AS pending
   LEFT JOIN LATERAL (
     SELECT ${STORED_BUNDLE} FROM packhouse.bundle
     WHERE network_id = $1 AND kind = $2 AND first_block = pending.first_block AND version = pending.version
     UNION ALL
     SELECT ${STORED_BUNDLE} FROM packhouse.superseded_bundle
     WHERE network_id = $1 AND kind = $2 AND first_block = pending.first_block AND version = pending.version
   ) AS row ON true
   LEFT JOIN packhouse.bundle_filter AS filter
     ON filter.network_id = $1 AND filter.kind = $2 AND filter.first_block = pending.first_block
       AND filter.version = pending.version AND encode(filter.bundle_sha256, 'hex') = row.sha256
   ORDER BY pending.first_block, pending.version`,
);

/** $1 network id, $2 kind, $3 starts (int8[]), $4 versions (int2[]). */
const deletePending = statement(
  'publish/delete-pending',
  `DELETE FROM packhouse.manifest_pending AS p
   USING unnest($3::int8[], $4::int2[]) AS done (first_block, version)
   WHERE p.network_id = $1 AND p.kind = $2 AND p.first_block = done.first_block AND p.version = done.version`,
);

/** A bundle that has no entry yet; the bundle's own columns are null if it was deleted meanwhile. */
type PendingRow = {
  pending_start: number;
  pending_version: number;
  supersedes: string | null;
  filter: FilterFile | null;
} & (StoredBundle | { [column in keyof StoredBundle]: null });

/**
 * Appends the entries of bundles that were published without one, at most `limit`, in one transaction. Returns their
 * number; 0: none is left. Throws SIGNING_KEY_CHANGED.
 */
export async function sealPending(
  { connections, origins }: PublishTools,
  { networkId, network, kind }: { networkId: number; network: string; kind: Kind },
  signer: Signer,
  limit: number,
): Promise<number> {
  const log = [networkId, kindCode(kind)];
  // Almost always there is none, and that needs no lock.
  if ((await connections.query<PendingRow>(selectPending, [...log, 1])).length === 0) return 0;
  const origin = await origins.get(signer.producer, []);
  return connections.transaction(async (session) => {
    await session.query(lockKind, [...log, 'yes']);
    const rows = await session.query<PendingRow>(selectPending, [...log, limit]);
    let tip = await readTip(session, { networkId, kind: kindCode(kind) }, signer);
    let appended = 0;
    for (const row of rows) {
      if (row.sha256 === null) continue;
      const { pending_start: _, pending_version: __, supersedes, filter, ...stored } = row;
      const bundle = toBundle(network, stored);
      // An entry has whole milliseconds; a row published without one has microseconds.
      const publishedAt = new Date(Math.floor(bundle.publishedAt.getTime()));
      tip = await appendEntry(session, tip, {
        networkId,
        signer,
        origin,
        row: { ...bundle, filter: filter ?? undefined, publishedAt, supersedes },
      });
      appended += 1;
    }
    const starts = rows.map((row) => row.pending_start);
    const versions = rows.map((row) => row.pending_version);
    await session.query(deletePending, [...log, starts, versions]);
    return appended;
  });
}
