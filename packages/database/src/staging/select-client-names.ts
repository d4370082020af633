import { statement } from '../connection/statement.js';

/** $1 ids (int4[]). */
export const selectClientNames = statement(
  'staging/select-client-names',
  'SELECT id, name FROM packhouse.node_client WHERE id = ANY($1::int4[])',
);
