import { statement } from '../connection/statement.js';

/** $1 job. */
export const selectNftWaiting = statement(
  'nft/select-waiting',
  `SELECT position, contract, token_id FROM packhouse.nft_job_token
   WHERE job_id = $1 AND outcome IS NULL ORDER BY position`,
);
