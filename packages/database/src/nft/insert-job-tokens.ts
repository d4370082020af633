import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 whether these are all, $4 contracts, $5 token ids. */
export const insertNftJobTokens = statement(
  'nft/insert-job-tokens',
  `WITH job AS (
     UPDATE packhouse.nft_job SET found = true, complete = $3
     WHERE id = $1 AND lease = $2 AND status = 'running' AND NOT found RETURNING id
   ), put AS (
     INSERT INTO packhouse.nft_job_token (job_id, position, contract, token_id)
     SELECT job.id, t.position, t.contract, t.token_id
     FROM job, unnest($4::text[], $5::text[]) WITH ORDINALITY AS t (contract, token_id, position)
   )
   SELECT 1 AS kept FROM job`,
);
