import { statement } from '../connection/statement.js';

/** $1 network id. */
export const deletePressure = statement(
  'pressure/delete-pressure',
  'DELETE FROM packhouse.back_pressure WHERE network_id = $1',
);
