import { statement } from '../connection/statement.js';

/** A table that is, or was, a staging partition. */
export interface PartitionRow {
  name: string;
  /** `detaching`: a DETACH CONCURRENTLY did not come to its end; rows in it are not seen any more. */
  state: 'attached' | 'detaching' | 'detached';
}

/** $1 names (text[]). Tables that do not exist have no row. */
export const selectPartitions = statement(
  'staging/select-partitions',
  `SELECT c.relname AS name,
     CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'detaching' ELSE 'attached' END
       AS state
   FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
   WHERE c.relnamespace = to_regnamespace('packhouse') AND c.relkind = 'r' AND c.relname = ANY($1::name[])`,
);
