import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 kind, $3 start blocks: the object keys of all versions, current and superseded, of the bundles
 * that start there. Two look-ups by primary key for each start block.
 */
export const selectKnownKeys = statement(
  'audit/select-known-keys',
  `SELECT object_key AS key
   FROM packhouse.bundle
   WHERE network_id = $1::int2 AND kind = $2::int2 AND start_block = ANY ($3::int8[])
   UNION ALL
   SELECT object_key
   FROM packhouse.superseded_bundle
   WHERE network_id = $1::int2 AND kind = $2::int2 AND start_block = ANY ($3::int8[])`,
);
