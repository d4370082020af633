import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind, $3 starts (int8[]), $4 versions (int2[]). */
export const deletePending = statement(
  'manifest/delete-pending',
  `DELETE FROM packhouse.manifest_pending AS p
   USING unnest($3::int8[], $4::int2[]) AS done (start_block, version)
   WHERE p.network_id = $1 AND p.kind = $2 AND p.start_block = done.start_block AND p.version = done.version`,
);
