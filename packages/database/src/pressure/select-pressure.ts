import { statement } from '../connection/statement.js';

/** $1 network id. */
export const selectPressure = statement(
  'pressure/select-pressure',
  'SELECT since, staged_bytes, limit_bytes FROM packhouse.back_pressure WHERE network_id = $1',
);
