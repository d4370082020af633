import type { BlockRange, Kind } from '@packhouse/chain';
import type { FilterFile } from '@packhouse/manifest';
import { kindCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';
import type { BundleRow } from './bundles.js';

/** A published bundle and its filter. */
export interface FilteredFile extends BlockRange {
  /** Of the bundle, hex. */
  sha256: string;
  objectKey: string;
  /** null: it has none. */
  filter: FilterFile | null;
}

/**
 * $1 network id, $2 kind, $3 first block, $4 last block, $5 limit: the first bundles that touch that range, ascending, each with its
 * filter. The walk of `bundles/select-files`, with a step in the filters' primary key for each.
 */
const selectFilters = statement(
  'bundle-filters/select-filters',
  `SELECT b.first_block AS "firstBlock", b.last_block AS "lastBlock", encode(b.sha256, 'hex') AS sha256,
     b.object_key AS "objectKey",
     CASE WHEN f.sha256 IS NOT NULL THEN
       jsonb_build_object('bytes', f.byte_length, 'sha256', encode(f.sha256, 'hex'))
     END AS filter
   FROM packhouse.bundle AS b
   LEFT JOIN packhouse.bundle_filter AS f
     ON f.network_id = b.network_id AND f.kind = b.kind AND f.first_block = b.first_block
       AND f.version = b.version AND f.bundle_sha256 = b.sha256
   WHERE b.network_id = $1 AND b.kind = $2 AND b.first_block <= $4 AND b.last_block >= $3
     AND b.first_block >= coalesce((
       SELECT first_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND first_block <= $3
       ORDER BY first_block DESC
       LIMIT 1
     ), $3)
   ORDER BY b.first_block
   LIMIT $5`,
);

/** $1 network id, $2 kind, $3 first block, $4 version, $5 sha256 of the bundle, $6 bytes, $7 sha256. */
const upsertFilter = statement(
  'bundle-filters/upsert-filter',
  `INSERT INTO packhouse.bundle_filter (network_id, kind, first_block, version, bundle_sha256, byte_length, sha256)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (network_id, kind, first_block, version) DO UPDATE SET
     bundle_sha256 = excluded.bundle_sha256, byte_length = excluded.byte_length, sha256 = excluded.sha256`,
);

/** The filters of a network's bundles (docs/formats.md); `publish/` writes those of new bundles. */
export function createBundleFilters(connections: Connections, network: NetworkRef) {
  return {
    /** The first `limit` bundles that touch the range, ascending, each with its filter. */
    async of(kind: Kind, { firstBlock, lastBlock }: BlockRange, limit: number): Promise<FilteredFile[]> {
      const values = [await network.find(), kindCode(kind), firstBlock, lastBlock, limit];
      return connections.query(selectFilters, values);
    },
    /** Adds the filter of a bundle, or replaces it. */
    async put(
      { kind, firstBlock, version, sha256 }: Pick<BundleRow, 'kind' | 'firstBlock' | 'version' | 'sha256'>,
      filter: FilterFile,
    ): Promise<void> {
      const values = [await network.get(), kindCode(kind), firstBlock, version, Buffer.from(sha256, 'hex')];
      await connections.query(upsertFilter, [...values, filter.bytes, Buffer.from(filter.sha256, 'hex')]);
    },
  };
}
