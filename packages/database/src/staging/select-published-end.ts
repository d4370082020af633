import { statement } from '../connection/statement.js';

/** $1 network id: the highest published block of any kind, or null. */
export const selectPublishedEnd = statement(
  'staging/select-published-end',
  'SELECT max(upper(ranges) - 1) AS block FROM packhouse.published WHERE network_id = $1',
);
