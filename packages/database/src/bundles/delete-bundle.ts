import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind, $3 start. */
export const deleteBundle = statement(
  'bundles/delete-bundle',
  'DELETE FROM packhouse.bundle WHERE network_id = $1 AND kind = $2 AND start_block = $3',
);
