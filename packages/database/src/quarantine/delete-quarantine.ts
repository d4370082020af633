import { statement } from '../connection/statement.js';

/** $1 network id, $2 first blocks of the rows (int8[]). */
export const deleteQuarantine = statement(
  'quarantine/delete-quarantine',
  'DELETE FROM packhouse.quarantine WHERE network_id = $1 AND block = ANY($2::int8[])',
);
