import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkDatabase } from '../contract/database.js';
import type { FilteredFile } from '../contract/rows.js';
import type { NetworkRef } from './networks.js';

/**
 * $1 network id, $2 kind, $3 start, $4 end, $5 limit: the first bundles that touch start..end, ascending, each with its
 * filter. The walk of `bundles/select-files`, with a step in the filters' primary key for each.
 */
const selectFilters = statement(
  'bundle-filters/select-filters',
  `SELECT b.start_block AS start, b.end_block AS "end", encode(b.sha256, 'hex') AS sha256,
     b.object_key AS "objectKey", f.byte_length AS bytes, encode(f.sha256, 'hex') AS filter
   FROM packhouse.bundle AS b
   LEFT JOIN packhouse.bundle_filter AS f
     ON f.network_id = b.network_id AND f.kind = b.kind AND f.start_block = b.start_block
       AND f.version = b.version AND f.bundle_sha256 = b.sha256
   WHERE b.network_id = $1 AND b.kind = $2 AND b.start_block <= $4 AND b.end_block >= $3
     AND b.start_block >= coalesce((
       SELECT start_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND start_block <= $3
       ORDER BY start_block DESC
       LIMIT 1
     ), $3)
   ORDER BY b.start_block
   LIMIT $5`,
);

/** $1 network id, $2 kind, $3 start, $4 version, $5 sha256 of the bundle, $6 bytes, $7 sha256. */
const upsertFilter = statement(
  'bundle-filters/upsert-filter',
  `INSERT INTO packhouse.bundle_filter (network_id, kind, start_block, version, bundle_sha256, byte_length, sha256)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (network_id, kind, start_block, version) DO UPDATE SET
     bundle_sha256 = excluded.bundle_sha256, byte_length = excluded.byte_length, sha256 = excluded.sha256`,
);

/** The filters of a network's bundles; `publish/` writes those of new bundles. */
export function createBundleFilters(
  connections: Connections,
  network: NetworkRef,
): NetworkDatabase['bundleFilters'] {
  return {
    of: async (kind, { start, end }, limit) => {
      const values = [await network.find(), kindCode(kind), start, end, limit];
      const rows = await connections.query<FilterRow>(selectFilters, values);
      return rows.map(({ bytes, filter, ...file }) => ({
        ...file,
        filter: bytes === null || filter === null ? null : { bytes, sha256: filter },
      }));
    },
    put: async ({ kind, start, version, sha256 }, filter) => {
      const values = [await network.get(), kindCode(kind), start, version, Buffer.from(sha256, 'hex')];
      await connections.query(upsertFilter, [...values, filter.bytes, Buffer.from(filter.sha256, 'hex')]);
    },
  };
}

type FilterRow = Omit<FilteredFile, 'filter'> & { bytes: number | null; filter: string | null };
