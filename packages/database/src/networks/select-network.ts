import { statement } from '../connection/statement.js';

/** $1 name. */
export const selectNetwork = statement(
  'networks/select-network',
  'SELECT id, chain_id FROM packhouse.network WHERE name = $1',
);
