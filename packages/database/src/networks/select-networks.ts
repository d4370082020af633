import { statement } from '../connection/statement.js';

/** All networks, in the order they became known. */
export const selectNetworks = statement(
  'networks/select-networks',
  'SELECT name, chain_id FROM packhouse.network ORDER BY id',
);
