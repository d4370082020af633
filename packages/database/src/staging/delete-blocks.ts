import { statement } from '../connection/statement.js';

/** $1 network id, $2 start. Returns a row a block. */
export const deleteBlocks = statement(
  'staging/delete-blocks',
  'DELETE FROM packhouse.staged_block WHERE network_id = $1 AND block >= $2 RETURNING block',
);
