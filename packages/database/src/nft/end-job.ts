import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 outcome of tokens without one. */
export const endNftJob = statement(
  'nft/end-job',
  `WITH job AS (
     UPDATE packhouse.nft_job SET status = 'done', lease = NULL, finished_at = now(), found = true
     WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING id
   ), rest AS (
     UPDATE packhouse.nft_job_token AS i SET outcome = $3::text FROM job
     WHERE i.job_id = job.id AND i.outcome IS NULL
   ), left_over AS (
     UPDATE packhouse.nft_token AS t SET asked_by = NULL, outcome = $3::text FROM job WHERE t.asked_by = job.id
   )
   SELECT 1 AS kept FROM job`,
);
