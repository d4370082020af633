import { statement } from '../connection/statement.js';

/** $1 network id, $2 blocks (int8[]), $3 proofs (int4[]): adds what another job proved of blocks staged before.
 *
 * The last condition repeats the join so that the other partitions are pruned. */
export const updateProofs = statement(
  'staging/update-proofs',
  `UPDATE packhouse.staged_block AS s SET proofs = s.proofs | more.proofs
   FROM unnest($2::int8[], $3::int4[]) AS more (block, proofs)
   WHERE s.network_id = $1 AND s.block = more.block AND s.block = ANY($2::int8[])`,
);
