import { statement } from '../connection/statement.js';

/** $1 network id, $2 start, $3 first block of its segment: deletes every fragment that holds `start` or a later block. */
export const deleteFragments = statement(
  'staging/delete-fragments',
  'DELETE FROM packhouse.fragment WHERE network_id = $1 AND block >= $3 AND end_block >= $2',
);
