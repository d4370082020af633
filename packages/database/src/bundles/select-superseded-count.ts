import { statement } from '../connection/statement.js';

/** A row a network and kind, whatever was superseded. */
export const selectSupersededCount = statement(
  'bundles/select-superseded-count',
  'SELECT coalesce(sum(superseded), 0)::int8 AS count FROM packhouse.published',
);
