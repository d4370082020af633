import { statement } from '../connection/statement.js';

/** $1 job, $2 position to go on behind, $3 how many. */
export const selectNftJobTokens = statement(
  'nft/select-job-tokens',
  `SELECT position, contract, token_id, outcome, asked_at, refreshed FROM packhouse.nft_job_token
   WHERE job_id = $1 AND position > $2 ORDER BY position LIMIT $3`,
);
