import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind, $3 block, $4 first block of its segment: the staged fragment that holds the block. */
export const selectFragmentAt = statement(
  'coverage/select-fragment-at',
  `SELECT * FROM (
     SELECT block, end_block, octet_length(body) AS byte_length, raw_length, crc32
     FROM packhouse.fragment
     WHERE network_id = $1 AND kind = $2 AND block BETWEEN $4 AND $3
     ORDER BY block DESC
     LIMIT 1
   ) AS last
   WHERE end_block >= $3`,
);
