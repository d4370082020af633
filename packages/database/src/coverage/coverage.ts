import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkDatabase } from '../contract/database.js';
import type { Coverage } from '../contract/rows.js';
import type { NetworkRef } from '../tables/networks.js';

/**
 * $1 network id, $2 kind, $3 start, $4 end: the three parts of coverage within start..end as ranges.
 *
 * The cost depends on the result and the staging area, not on the bundles: `published` has one row per kind.
 * Rejected: range_agg over the bundles, 234 ms at 200,000 of the kind.
 */
const selectCoverage = statement(
  'coverage/select-coverage',
  `SELECT part, lower(range) AS start, upper(range) - 1 AS "end"
   FROM (
     SELECT 'staged' AS part, range_agg(int8range(block, end_block, '[]')) AS ranges
     FROM packhouse.fragment
     WHERE network_id = $1 AND kind = $2::int2 AND block BETWEEN $3::int8 - 1023 AND $4::int8
     UNION ALL
     SELECT 'published', ranges
     FROM packhouse.published
     WHERE network_id = $1 AND kind = $2::int2
     UNION ALL
     SELECT 'quarantined', range_agg(int8range(block, block + blocks))
     FROM packhouse.quarantine
     WHERE network_id = $1 AND (kinds >> $2::int4) & 1 = 1
       AND int8range(block, block + blocks) && int8range($3::int8, $4::int8, '[]')
   ) AS parts,
   unnest(parts.ranges * int8multirange(int8range($3::int8, $4::int8, '[]'))) AS range
   ORDER BY part, start`,
);

/** The default range: up to the highest block number supported. */
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER - 1 };

/** Reads the staged, published and quarantined ranges of one kind from one snapshot. */
export function createCoverage(connections: Connections, network: NetworkRef): NetworkDatabase['coverage'] {
  return async (kind, within = EVERYTHING) => {
    const coverage: Coverage = { staged: [], published: [], quarantined: [] };
    const id = await network.find();
    if (id === undefined || within.end < within.start) return coverage;
    const rows = await connections.query<{ part: keyof Coverage; start: number; end: number }>(
      selectCoverage,
      [id, kindCode(kind), within.start, within.end],
    );
    for (const { part, start, end } of rows) coverage[part].push({ start, end });
    return coverage;
  };
}
