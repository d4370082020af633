import { statement } from '../connection/statement.js';

/** Filters that live, by network. */
export const countFilters = statement(
  'filters/count-filters',
  `SELECT network, count(*) AS filters FROM packhouse.rpc_filter WHERE expires_at > now() GROUP BY network`,
);
