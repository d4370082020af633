import { statement } from '../connection/statement.js';

/** A row of fragment without its body. */
export interface FragmentRow {
  block: number;
  end_block: number;
  byte_length: number;
  raw_length: number;
  crc32: number;
}

/**
 * $1 network id, $2 kind, $3 start, $4 end, $5 first block of the start's segment (no fragment begins earlier and
 * reaches the start).
 *
 * octet_length of an EXTERNAL value reads its pointer, not its bytes.
 */
export const selectFragments = statement(
  'staging/select-fragments',
  `SELECT block, end_block, octet_length(body) AS byte_length, raw_length, crc32
   FROM packhouse.fragment
   WHERE network_id = $1 AND kind = $2 AND block BETWEEN $5 AND $4 AND end_block >= $3
   ORDER BY block`,
);
