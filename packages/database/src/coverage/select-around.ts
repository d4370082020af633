import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind, $3 block: the last published run or staged fragment before it and the first behind it. */
export const selectAround = statement(
  'coverage/select-around',
  `SELECT * FROM (
     (SELECT 'below' AS side, start_block AS start, end_block AS "end" FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND start_block < $3 ORDER BY start_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'below', block, end_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND block < $3 ORDER BY block DESC LIMIT 1)
     UNION ALL
     (SELECT 'above', start_block, end_block FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND start_block > $3 ORDER BY start_block LIMIT 1)
     UNION ALL
     (SELECT 'above', block, end_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND block > $3 ORDER BY block LIMIT 1)
   ) AS near`,
);
