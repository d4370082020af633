import { statement } from '../connection/statement.js';

/** $1 network id: rows and blocks of each cause. */
export const selectCauses = statement(
  'quarantine/select-causes',
  `SELECT cause, count(*) AS entries, sum(blocks)::int8 AS blocks
   FROM packhouse.quarantine WHERE network_id = $1 GROUP BY cause ORDER BY cause`,
);
