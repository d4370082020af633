import { statement } from '../connection/statement.js';

/** $1 network id, $2 start, $3 end of a segment: whether every fragment in it is inside what is published. */
export const selectIsCovered = statement(
  'staging/select-is-covered',
  `SELECT NOT EXISTS (
     SELECT 1
     FROM packhouse.fragment AS f
     LEFT JOIN packhouse.published AS p ON p.network_id = f.network_id AND p.kind = f.kind
     WHERE f.network_id = $1 AND f.block BETWEEN $2 AND $3
       AND NOT coalesce(p.ranges @> int8range(f.block, f.end_block, '[]'), false)
   ) AS covered`,
);
