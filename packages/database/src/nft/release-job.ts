import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 milliseconds until it may be taken again, $4 1 where it failed, else 0. */
export const releaseNftJob = statement(
  'nft/release-job',
  `UPDATE packhouse.nft_job SET
     status = 'queued', lease = NULL, due_at = now() + $3::float8 * interval '1 millisecond', failures = failures + $4::int4
   WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING 1 AS kept`,
);
