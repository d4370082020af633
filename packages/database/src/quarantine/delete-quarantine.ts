import { statement } from '../connection/statement.js';

/** $1 network id, $2 block. */
export const deleteQuarantine = statement(
  'quarantine/delete-quarantine',
  'DELETE FROM packhouse.quarantine WHERE network_id = $1 AND block = $2',
);
