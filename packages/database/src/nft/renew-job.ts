import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 milliseconds from now. */
export const renewNftJob = statement(
  'nft/renew-job',
  `UPDATE packhouse.nft_job SET due_at = now() + $3::float8 * interval '1 millisecond'
   WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING 1 AS kept`,
);
