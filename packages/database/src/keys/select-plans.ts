import { statement } from '../connection/statement.js';

/** All plans, smallest first. */
export const selectPlans = statement(
  'keys/select-plans',
  `SELECT name AS plan, max_block, requests_per_second, requests_per_day
   FROM packhouse.plan
   ORDER BY position`,
);
