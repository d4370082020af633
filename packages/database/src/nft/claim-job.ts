import { statement } from '../connection/statement.js';

/** $1 networks, $2 lease, $3 milliseconds that it lasts. Of a job that runs, `due_at` is the end of its lease. */
export const claimNftJob = statement(
  'nft/claim-job',
  `UPDATE packhouse.nft_job AS j SET
     status = 'running', lease = $2::bytea, due_at = now() + $3::float8 * interval '1 millisecond',
     takeovers = j.takeovers + (j.status = 'running')::int4
   WHERE j.id = (
     SELECT id FROM packhouse.nft_job
     WHERE status <> 'done' AND due_at <= now() AND network = ANY ($1::text[])
     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
   )
   RETURNING j.id, j.lease, j.network, j.contract, j.owner, j.token_id, j.found, j.failures, j.takeovers`,
);
