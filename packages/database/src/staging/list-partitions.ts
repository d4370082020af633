import { statement } from '../connection/statement.js';

/**
 * $1 network id or null for all: every staging table with its bytes, in whatever state.
 *
 * By name and not by inheritance, so that a table which was detached and not yet dropped is seen.
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
