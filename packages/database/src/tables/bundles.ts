import { decodeFragmentTable } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { hashText, kindCode, kindOf, notProvedOf, proofsOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Database, NetworkDatabase } from '../contract/database.js';
import type { BundleRow, PublishedFile } from '../contract/rows.js';
import type { NetworkRef } from './networks.js';

/** A row of the range index as it is stored. */
export interface StoredBundle {
  kind: number;
  start_block: number;
  end_block: number;
  byte_length: number;
  raw_length: number;
  proofs: number;
  format_version: number;
  version: number;
  published_at: Date;
  sha256: Buffer;
  first_hash: Buffer;
  first_parent_hash: Buffer;
  last_hash: Buffer;
  object_key: string;
  fragments: Buffer;
  not_proved: string;
}

/** All columns of a bundle but its network. */
export const BUNDLE_COLUMNS = `kind, start_block, end_block, byte_length, raw_length, proofs, format_version,
     version, published_at, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, not_proved`;

/**
 * $1 network id, $2 kind, $3 block: the bundle that covers the block.
 *
 * One walk down the primary key to the last bundle that starts at or before the block. Whether it reaches the block
 * is tested outside, so that the walk ends after one row even if the block is in a hole. At a million rows: 10
 * pages, 0.03 ms. The GiST index of the constraint answers `@>` in the same time if bundles were inserted in order;
 * its pages overlap more if not, so it is not used.
 */
const selectCovering = statement(
  'bundles/select-covering',
  `SELECT * FROM (
     SELECT ${BUNDLE_COLUMNS}
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = $2 AND start_block <= $3
     ORDER BY start_block DESC
     LIMIT 1
   ) AS last
   WHERE end_block >= $3`,
);

/**
 * $1 network id, $2 kind, $3 start, $4 end: ranges of the bundles that touch start..end, ascending.
 *
 * The sub-select finds the last bundle that starts at or before `start`. Read from the primary key
 * alone, which includes end_block: 0.06 ms at 200,000 bundles of the kind. Rejected: without the sub-select every
 * entry from the first block on is read and discarded (42,857 of them, 2.8 ms, if the range begins a fifth into
 * the index).
 */
const selectRanges = statement(
  'bundles/select-ranges',
  `SELECT start_block AS start, end_block AS "end"
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block <= $4 AND end_block >= $3
     AND start_block >= coalesce((
       SELECT start_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND start_block <= $3
       ORDER BY start_block DESC
       LIMIT 1
     ), $3)
   ORDER BY start_block`,
);

/**
 * $1 network id, $2 kind, $3 start, $4 end, $5 limit: the first bundles that touch start..end, ascending.
 *
 * The sub-select finds the last bundle that starts at or before `start`, so that the walk along the primary key begins
 * at the page; see `bundles/select-ranges`. A page of 1,000 anywhere in 300,000 bundles: 0.5 ms and 30 pages.
 */
export const selectFiles = statement(
  'bundles/select-files',
  `SELECT start_block AS start, end_block AS "end", byte_length AS "byteLength", encode(sha256, 'hex') AS sha256,
     version
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block <= $4 AND end_block >= $3
     AND start_block >= coalesce((
       SELECT start_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND start_block <= $3
       ORDER BY start_block DESC
       LIMIT 1
     ), $3)
   ORDER BY start_block
   LIMIT $5`,
);

/** $1 network id, $2 kind, $3 start, $4 end: from a partial index, which is empty if everything is proved. */
const selectNotProved = statement(
  'bundles/select-not-proved',
  `SELECT start_block AS start, end_block AS "end", not_proved
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND not_proved <> '' AND start_block <= $4 AND end_block >= $3
   ORDER BY start_block`,
);

/** $1 network id: each different text once, by one step in the index for each. */
const selectReasons = statement(
  'bundles/select-reasons',
  `WITH RECURSIVE reason AS (
     (SELECT not_proved FROM packhouse.bundle
      WHERE network_id = $1 AND not_proved <> '' ORDER BY not_proved LIMIT 1)
     UNION ALL
     SELECT (SELECT b.not_proved FROM packhouse.bundle AS b
             WHERE b.network_id = $1 AND b.not_proved <> '' AND b.not_proved > reason.not_proved
             ORDER BY b.not_proved LIMIT 1)
     FROM reason WHERE reason.not_proved IS NOT NULL
   )
   SELECT not_proved FROM reason WHERE not_proved IS NOT NULL LIMIT 32`,
);

/** $1 network id, $2 kind, $3 from, $4 limit. */
const listBundles = statement(
  'bundles/list-bundles',
  `SELECT ${BUNDLE_COLUMNS}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block >= $3
   ORDER BY start_block
   LIMIT $4`,
);

/** $1 network id, $2 kind: maintained by triggers, so the cost does not depend on the number of bundles. */
const selectTotals = statement(
  'bundles/select-totals',
  `SELECT bundles, blocks, bytes, newest_at AS "newestAt"
   FROM packhouse.published
   WHERE network_id = $1 AND kind = $2`,
);

/** The count of all networks and kinds. */
const selectSupersededCount = statement(
  'bundles/select-superseded-count',
  'SELECT coalesce(sum(superseded), 0)::int8 AS count FROM packhouse.published',
);

/** Reads the range index of a network; `publish/` writes it. */
export function createBundles(
  connections: Connections,
  network: NetworkRef,
): Omit<NetworkDatabase['bundles'], 'publish' | 'supersede'> {
  return {
    covering: async (kind, number) => {
      const values = [await network.find(), kindCode(kind), number];
      const [row] = await connections.query<StoredBundle>(selectCovering, values);
      return row === undefined ? null : bundleOf(network.name, row);
    },
    ranges: async (kind, range) => publishedRanges(connections, await network.find(), kind, range),
    files: async (kind, { start, end }, limit) => {
      const values = [await network.find(), kindCode(kind), start, end, limit];
      return connections.query<PublishedFile>(selectFiles, values);
    },
    notProved: async (kind, { start, end }) => {
      const values = [await network.find(), kindCode(kind), start, end];
      const rows = await connections.query<BlockRange & { not_proved: string }>(selectNotProved, values);
      return rows.map((row) => ({ start: row.start, end: row.end, notProved: notProvedOf(row.not_proved) }));
    },
    reasonsNotProved: async () => {
      const rows = await connections.query<{ not_proved: string }>(selectReasons, [await network.find()]);
      const reasons = rows.flatMap((row) => notProvedOf(row.not_proved));
      return [...new Map(reasons.map((one) => [`${one.proof} ${one.because}`, one])).values()];
    },
    list: async (kind, from, limit) => {
      const values = [await network.find(), kindCode(kind), from, limit];
      const rows = await connections.query<StoredBundle>(listBundles, values);
      return rows.map((row) => bundleOf(network.name, row));
    },
    totals: async (kind) => {
      const values = [await network.find(), kindCode(kind)];
      const [row] = await connections.query<Totals>(selectTotals, values);
      return row ?? { bundles: 0, blocks: 0, bytes: 0, newestAt: null };
    },
  };
}

/** Ranges of the bundles that touch a range, ascending. */
export function publishedRanges(
  connections: Connections,
  networkId: number,
  kind: Kind,
  { start, end }: BlockRange,
): Promise<BlockRange[]> {
  return connections.query(selectRanges, [networkId, kindCode(kind), start, end]);
}

/** The range index of all networks. */
export function createAllBundles(connections: Connections): Database['bundles'] {
  return {
    supersededCount: async () => {
      const [row] = await connections.query<{ count: number }>(selectSupersededCount, []);
      return row?.count ?? 0;
    },
  };
}

type Totals = Awaited<ReturnType<NetworkDatabase['bundles']['totals']>>;

/** The row as returned to callers. */
export function bundleOf(network: string, row: StoredBundle): BundleRow {
  return {
    network,
    kind: kindOf(row.kind),
    start: row.start_block,
    end: row.end_block,
    objectKey: row.object_key,
    byteLength: row.byte_length,
    rawLength: row.raw_length,
    sha256: row.sha256.toString('hex'),
    firstHash: hashText(row.first_hash),
    firstParentHash: hashText(row.first_parent_hash),
    lastHash: hashText(row.last_hash),
    proofs: proofsOf(row.proofs),
    ...(row.not_proved === '' ? {} : { notProved: notProvedOf(row.not_proved) }),
    fragments: decodeFragmentTable(row.start_block, row.fragments),
    formatVersion: row.format_version,
    version: row.version,
    publishedAt: row.published_at,
  };
}
