import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 position, $4 now, $5 recent after. What the same job asked for before its gateway died is asked for again. */
export const beginNftToken = statement(
  'nft/begin-token',
  `WITH item AS (
     SELECT j.network, i.contract, i.token_id
     FROM packhouse.nft_job AS j
     JOIN packhouse.nft_job_token AS i ON i.job_id = j.id AND i.position = $3
     WHERE j.id = $1 AND j.lease = $2 AND j.status = 'running'
   ), mine AS (
     INSERT INTO packhouse.nft_token AS t (network, contract, token_id, asked_at, asked_by)
     SELECT network, contract, token_id, $4::timestamptz, $1 FROM item
     ON CONFLICT (network, contract, token_id) DO UPDATE SET asked_at = excluded.asked_at, asked_by = excluded.asked_by
     WHERE t.asked_by = $1
       OR (t.asked_by IS NULL AND (t.outcome IS NULL OR t.asked_at <= $5::timestamptz))
     RETURNING 1
   ), recent AS (
     UPDATE packhouse.nft_job_token AS i SET outcome = t.outcome, asked_at = t.asked_at
     FROM packhouse.nft_token AS t JOIN item USING (network, contract, token_id)
     WHERE i.job_id = $1 AND i.position = $3 AND t.asked_by IS NULL AND t.outcome IS NOT NULL
       AND t.asked_at > $5::timestamptz
     RETURNING 1
   )
   SELECT CASE
     WHEN NOT EXISTS (SELECT FROM item) THEN 'lost'
     WHEN EXISTS (SELECT FROM mine) THEN 'mine'
     WHEN EXISTS (SELECT FROM recent) THEN 'recent'
     ELSE 'busy'
   END AS leave`,
);
