import { statement } from '../connection/statement.js';

/** $1 network id, $2 kinds (int2[]), $3 start, $4 end, $5 first block of their segment: what is staged of each kind. */
export const selectStagedRanges = statement(
  'staging/select-staged-ranges',
  `SELECT kind, block AS start, end_block AS "end"
   FROM packhouse.fragment
   WHERE network_id = $1 AND kind = ANY($2::int2[]) AND block BETWEEN $5 AND $4 AND end_block >= $3`,
);
