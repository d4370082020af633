import { statement } from '../connection/statement.js';

/** The database's time in whole milliseconds. */
export const selectClock = statement(
  'manifest/select-clock',
  `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
);
