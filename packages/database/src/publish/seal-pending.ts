import type { Kind } from '@packhouse/chain';
import type { Signer } from '@packhouse/manifest';
import { kindCode } from '../connection/codes.js';
import { statement } from '../connection/connections.js';
import type { NewBundle } from '../contract/rows.js';
import { BUNDLE_COLUMNS, bundleOf, type StoredBundle } from '../tables/bundles.js';
import { appendEntry, readTip } from './append-entry.js';
import { lockKind } from './insert-bundle.js';
import type { PublishTools } from './publish.js';

/** $1 network id, $2 kind, $3 limit: the first by block and version, current or superseded. */
const selectPending = statement(
  'publish/select-pending',
  `SELECT pending.start_block AS pending_start, pending.version AS pending_version, row.*,
     (SELECT before.sha256 FROM packhouse.superseded_bundle AS before
      WHERE before.network_id = $1 AND before.kind = $2 AND before.start_block = pending.start_block
        AND before.version = pending.version - 1) AS supersedes,
     filter.byte_length AS filter_bytes, filter.sha256 AS filter_sha256
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
   LEFT JOIN packhouse.bundle_filter AS filter
     ON filter.network_id = $1 AND filter.kind = $2 AND filter.start_block = pending.start_block
       AND filter.version = pending.version AND filter.bundle_sha256 = row.sha256
   ORDER BY pending.start_block, pending.version`,
);

/** $1 network id, $2 kind, $3 starts (int8[]), $4 versions (int2[]). */
const deletePending = statement(
  'publish/delete-pending',
  `DELETE FROM packhouse.manifest_pending AS p
   USING unnest($3::int8[], $4::int2[]) AS done (start_block, version)
   WHERE p.network_id = $1 AND p.kind = $2 AND p.start_block = done.start_block AND p.version = done.version`,
);

/** A bundle that has no entry yet; the bundle's own columns are null if it was deleted meanwhile. */
type PendingRow = {
  pending_start: number;
  pending_version: number;
  supersedes: Buffer | null;
  filter_bytes: number | null;
  filter_sha256: Buffer | null;
} & (StoredBundle | { [column in keyof StoredBundle]: null });

/** Appends entries of bundles that have none (see NetworkDatabase.manifest.sealPending). */
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
      const bundle = bundleOf(network, row);
      // An entry has whole milliseconds; the row of an older program has microseconds.
      const publishedAt = new Date(Math.floor(bundle.publishedAt.getTime()));
      const supersedes = row.supersedes?.toString('hex') ?? null;
      tip = await appendEntry(session, tip, {
        networkId,
        signer,
        origin,
        row: { ...bundle, ...filterOf(row), publishedAt, supersedes },
      });
      appended += 1;
    }
    const starts = rows.map((row) => row.pending_start);
    const versions = rows.map((row) => row.pending_version);
    await session.query(deletePending, [...log, starts, versions]);
    return appended;
  });
}

function filterOf({ filter_bytes: bytes, filter_sha256: sha256 }: PendingRow): Pick<NewBundle, 'filter'> {
  return bytes === null || sha256 === null ? {} : { filter: { bytes, sha256: sha256.toString('hex') } };
}
