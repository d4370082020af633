import { statement } from '../connection/statement.js';

/** $1 network id, $2 number, $3 hash; both null to forget it. */
export const updateAnchor = statement(
  'head/update-anchor',
  `UPDATE packhouse.head SET anchor_block = $2::int8, anchor_hash = $3::bytea WHERE network_id = $1`,
);
