import { statement } from '../connection/statement.js';

/** $1 name. */
export const selectClient = statement(
  'staging/select-client',
  'SELECT id FROM packhouse.node_client WHERE name = $1',
);
