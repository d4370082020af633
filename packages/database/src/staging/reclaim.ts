import { type Connections, statement } from '../connection/connections.js';
import { dropSegment, SEGMENT_BLOCKS } from './segments.js';

/**
 * $1 network id or null for all: every staging table with its bytes, in whatever state.
 *
 * Found by name and not by inheritance, to include tables that are detached and not yet dropped.
 */
export const listPartitions = statement(
  'staging/list-partitions',
  `SELECT name, segment, pg_total_relation_size(oid) AS bytes
   FROM (
     SELECT c.oid, c.relname AS name, parts[1]::int4 AS network_id, parts[2]::int4 AS segment
     FROM pg_class AS c,
       regexp_match(c.relname, '^(?:fragment|staged_block)_(\\d+)_(\\d+)$') AS parts
     WHERE c.relnamespace = to_regnamespace('packhouse') AND c.relkind = 'r' AND parts IS NOT NULL
   ) AS partitions
   WHERE $1::int4 IS NULL OR network_id = $1::int4
   ORDER BY segment, name`,
);

/** $1 network id, $2 first block, $3 last block of a segment: whether every fragment in it is published. */
const selectIsCovered = statement(
  'staging/select-is-covered',
  `SELECT NOT EXISTS (
     SELECT 1
     FROM packhouse.fragment AS f
     WHERE f.network_id = $1 AND f.first_block BETWEEN $2 AND $3
       AND f.last_block > coalesce((
         SELECT r.last_block FROM packhouse.published_run AS r
         WHERE r.network_id = f.network_id AND r.kind = f.kind AND r.first_block <= f.first_block
         ORDER BY r.first_block DESC LIMIT 1
       ), -1)
   ) AS covered`,
);

/** Days that abandoned blocks are kept: reorganisations are rare, and cursors of feeds may be old. */
export const ABANDONED_DAYS = 400;

export const deleteOldAbandoned = statement(
  'staging/delete-old-abandoned',
  `DELETE FROM packhouse.abandoned_block WHERE abandoned_at < now() - interval '${ABANDONED_DAYS} days'`,
);

/**
 * $1 network id, $2 first block, $3 last block of a segment: forgets that blocks were abandoned to which the chain came back. Until
 * they are dropped here, their staged rows show it.
 */
const deleteRevived = statement(
  'staging/delete-revived',
  `DELETE FROM packhouse.abandoned_block AS a USING packhouse.staged_block AS s
   WHERE a.network_id = $1 AND a.block BETWEEN $2 AND $3
     AND s.network_id = $1 AND s.block = a.block AND s.block BETWEEN $2 AND $3 AND s.hash = a.hash`,
);

/**
 * Drops the staging partitions of segments in which every fragment of every kind is covered by a published bundle,
 * which frees disk space. Returns the segments' start blocks.
 */
export async function reclaim(connections: Connections, networkId: number): Promise<number[]> {
  const partitions = await connections.query<{ segment: number }>(listPartitions, [networkId]);
  const reclaimed: number[] = [];
  for (const number of new Set(partitions.map((partition) => partition.segment))) {
    const start = number * SEGMENT_BLOCKS;
    const dropped = await dropSegment(connections, { networkId, number }, async (session) => {
      const values = [networkId, start, start + SEGMENT_BLOCKS - 1];
      const row = await session.queryOne<{ covered: boolean }>(selectIsCovered, values);
      if (row?.covered !== true) return false;
      await session.query(deleteRevived, values);
      return true;
    });
    if (dropped) reclaimed.push(start);
  }
  await connections.query(deleteOldAbandoned, []);
  return reclaimed;
}
