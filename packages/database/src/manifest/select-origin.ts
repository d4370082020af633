import { statement } from '../connection/statement.js';

/** $1 producer, $2 clients (text[]). */
export const selectOrigin = statement(
  'manifest/select-origin',
  'SELECT id FROM packhouse.manifest_origin WHERE producer = $1::text AND clients = $2::text[]',
);
