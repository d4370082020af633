import { decodeFragmentTable, type FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind, NotProved, Proof } from '@packhouse/chain';
import type { FilterFile } from '@packhouse/manifest';
import { getKind, getNotProved, getProofs, kindCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';

/** A published bundle: one row of the range index. */
export interface BundleRow {
  network: string;
  kind: Kind;
  firstBlock: number;
  lastBlock: number;
  objectKey: string;
  /** Bytes of the gzip file. */
  byteLength: number;
  /** Bytes of the JSON inside. */
  rawLength: number;
  /** Hex. */
  sha256: string;
  /** Hash of the first block, `0x` hex. */
  firstHash: string;
  /** Parent hash of the first block. */
  firstParentHash: string;
  /** Hash of the last block. */
  lastHash: string;
  proofs: readonly Proof[];
  /** What of some block was not proved, each reason once; absent: nothing. */
  notProved?: readonly NotProved[];
  /** In order, covering the bundle without a gap. */
  fragments: readonly FragmentInfo[];
  formatVersion: number;
  /** 1, or one more than that of the bundle it superseded. */
  version: number;
  publishedAt: Date;
}

/** What a list of files says of a published bundle. */
export type PublishedFile = Pick<
  BundleRow,
  'firstBlock' | 'lastBlock' | 'byteLength' | 'sha256' | 'version' | 'lastHash'
>;

/** A bundle to publish; version and time are set when it is published. */
export type NewBundle = Omit<BundleRow, 'network' | 'publishedAt' | 'version'> & {
  /** Its filter, if it has one. */
  filter?: FilterFile;
};

/** Data of a network, with its name. */
export type Named<T> = T & { network: string };

/** A row of the range index as it is read; no text: everything is proved. */
export interface StoredBundle
  extends Omit<BundleRow, 'network' | 'kind' | 'proofs' | 'notProved' | 'fragments'> {
  kind: number;
  proofs: number;
  notProved: string;
  fragments: Buffer;
}

/** All columns of a bundle but its network. */
export const BUNDLE_COLUMNS = `kind, first_block, last_block, byte_length, raw_length, proofs, format_version,
     version, published_at, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, not_proved`;

/** The same as a StoredBundle. */
export const STORED_BUNDLE = `kind, first_block AS "firstBlock", last_block AS "lastBlock", byte_length AS "byteLength",
     raw_length AS "rawLength", proofs, format_version AS "formatVersion", version, published_at AS "publishedAt",
     encode(sha256, 'hex') AS sha256, '0x' || encode(first_hash, 'hex') AS "firstHash",
     '0x' || encode(first_parent_hash, 'hex') AS "firstParentHash", '0x' || encode(last_hash, 'hex') AS "lastHash",
     object_key AS "objectKey", fragments, not_proved AS "notProved"`;

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
     SELECT ${STORED_BUNDLE}
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = $2 AND first_block <= $3
     ORDER BY first_block DESC
     LIMIT 1
   ) AS last
   WHERE "lastBlock" >= $3`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block: see `bundles/select-ranges`. */
const TOUCHING = `WHERE network_id = $1 AND kind = $2 AND first_block <= $4 AND last_block >= $3
     AND first_block >= coalesce((
       SELECT first_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND first_block <= $3
       ORDER BY first_block DESC
       LIMIT 1
     ), $3)`;

/**
 * $1 network id, $2 kind, $3 first block, $4 last block: ranges of the bundles that touch that range, ascending.
 *
 * The sub-select finds the last bundle that begins at or before the first block. Read from the primary key
 * alone, which includes last_block: 0.06 ms at 200,000 bundles of the kind. Rejected: without the sub-select every
 * entry from the first block on is read and discarded (42,857 of them, 2.8 ms, if the range begins a fifth into
 * the index).
 */
const selectRanges = statement(
  'bundles/select-ranges',
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock"
   FROM packhouse.bundle
   ${TOUCHING}
   ORDER BY first_block`,
);

/**
 * $1 network id, $2 kind, $3 first block, $4 last block, $5 limit: the first bundles that touch that range, ascending.
 *
 * The sub-select finds the last bundle that begins at or before the first block, so that the walk along the primary key begins
 * at the page; see `bundles/select-ranges`. A page of 1,000 anywhere in 300,000 bundles: 0.5 ms and 30 pages.
 */
export const selectFiles = statement(
  'bundles/select-files',
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock", byte_length AS "byteLength", encode(sha256, 'hex') AS sha256,
     version, '0x' || encode(last_hash, 'hex') AS "lastHash"
   FROM packhouse.bundle
   ${TOUCHING}
   ORDER BY first_block
   LIMIT $5`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block: from a partial index, which is empty if everything is proved. */
const selectNotProved = statement(
  'bundles/select-not-proved',
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock", not_proved AS "notProved"
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND not_proved <> '' AND first_block <= $4 AND last_block >= $3
   ORDER BY first_block`,
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
  `SELECT ${STORED_BUNDLE}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND first_block >= $3
   ORDER BY first_block
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
export function createBundles(connections: Connections, network: NetworkRef) {
  const place = async (kind: Kind) => [await network.find(), kindCode(kind)];
  return {
    /** The bundle that covers the block, or null. */
    async covering(kind: Kind, number: number): Promise<BundleRow | null> {
      const row = await connections.queryOne<StoredBundle>(selectCovering, [...(await place(kind)), number]);
      return row && toBundle(network.name, row);
    },
    /** Ranges of the bundles that touch the range, ascending: less data than `list`, for caches. */
    ranges: async (kind: Kind, range: BlockRange) =>
      publishedRanges(connections, await network.find(), kind, range),
    /** The first `limit` bundles that touch that range, ascending, with what a list of files says of them. */
    async files(kind: Kind, { firstBlock, lastBlock }: BlockRange, limit: number) {
      const values = [...(await place(kind)), firstBlock, lastBlock, limit];
      return connections.query<PublishedFile>(selectFiles, values);
    },
    /** Of these ranges, the ones with blocks that are not wholly proved. */
    async notProved(kind: Kind, { firstBlock, lastBlock }: BlockRange) {
      const values = [...(await place(kind)), firstBlock, lastBlock];
      const rows = await connections.query<BlockRange & { notProved: string }>(selectNotProved, values);
      return rows.map((row) => ({ ...row, notProved: getNotProved(row.notProved) }));
    },
    /** What is not proved in some published bundle of any kind, each reason once; 32 at most. */
    async reasonsNotProved(): Promise<NotProved[]> {
      const rows = await connections.query<{ not_proved: string }>(selectReasons, [await network.find()]);
      const reasons = rows.flatMap((row) => getNotProved(row.not_proved));
      return [...new Map(reasons.map((one) => [`${one.proof} ${one.because}`, one])).values()];
    },
    /** Whole rows in ascending order, `limit` at most, beginning at or after `from`. */
    async list(kind: Kind, from: number, limit: number): Promise<BundleRow[]> {
      const rows = await connections.query<StoredBundle>(listBundles, [...(await place(kind)), from, limit]);
      return rows.map((row) => toBundle(network.name, row));
    },
    /** Totals for status. */
    async totals(kind: Kind): Promise<Totals> {
      const row = await connections.queryOne<Totals>(selectTotals, await place(kind));
      return row ?? { bundles: 0, blocks: 0, bytes: 0, newestAt: null };
    },
  };
}

/** Ranges of the bundles that touch a range, ascending. */
export function publishedRanges(
  connections: Pick<Connections, 'query'>,
  networkId: number,
  kind: Kind,
  { firstBlock, lastBlock }: BlockRange,
): Promise<BlockRange[]> {
  return connections.query(selectRanges, [networkId, kindCode(kind), firstBlock, lastBlock]);
}

/** The range index of all networks. */
export function createAllBundles(connections: Connections) {
  return {
    /** Bundles superseded so far: if it changes, remembered rows of the index may be out of date. */
    supersededCount: async () =>
      (await connections.queryOne<{ count: number }>(selectSupersededCount, []))?.count ?? 0,
  };
}

type Totals = {
  bundles: number;
  blocks: number;
  bytes: number;
  newestAt: Date | null;
};

/** The row as returned to callers. */
export function toBundle(network: string, { notProved, ...row }: StoredBundle): BundleRow {
  return {
    network,
    ...row,
    kind: getKind(row.kind),
    proofs: getProofs(row.proofs),
    notProved: notProved === '' ? undefined : getNotProved(notProved),
    fragments: decodeFragmentTable(row.firstBlock, row.fragments),
  };
}
