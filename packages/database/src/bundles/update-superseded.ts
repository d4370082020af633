import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind: one bundle more was superseded. */
export const updateSuperseded = statement(
  'bundles/update-superseded',
  'UPDATE packhouse.published SET superseded = superseded + 1 WHERE network_id = $1 AND kind = $2',
);
