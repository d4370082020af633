import { statement } from '../connection/statement.js';

/** A thousand at a time, so that nobody waits for a long one. */
export const deleteOldNftJobs = statement(
  'nft/delete-old-jobs',
  `DELETE FROM packhouse.nft_job WHERE id IN (
     SELECT id FROM packhouse.nft_job WHERE status = 'done' AND finished_at < now() - interval '1 day'
     LIMIT 1000 FOR UPDATE SKIP LOCKED
   )`,
);
