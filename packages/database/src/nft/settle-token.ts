import { statement } from '../connection/statement.js';

/** $1 job, $2 lease, $3 position, $4 outcome, $5 standard, $6 URI, $7 metadata. What was indexed before stays where this time failed. */
export const settleNftToken = statement(
  'nft/settle-token',
  `WITH item AS (
     UPDATE packhouse.nft_job_token AS i SET
       outcome = $4::text, refreshed = true,
       asked_at = (SELECT t.asked_at FROM packhouse.nft_token AS t
                   WHERE t.network = j.network AND t.contract = i.contract AND t.token_id = i.token_id)
     FROM packhouse.nft_job AS j
     WHERE j.id = $1 AND j.lease = $2 AND j.status = 'running' AND i.job_id = j.id AND i.position = $3
     RETURNING j.network, i.contract, i.token_id
   )
   UPDATE packhouse.nft_token AS t SET
     outcome = $4::text, asked_by = NULL, standard = coalesce($5::text, t.standard), uri = coalesce($6::text, t.uri),
     metadata = CASE WHEN $4::text = 'indexed' THEN $7::text ELSE t.metadata END,
     indexed_at = CASE WHEN $4::text = 'indexed' THEN t.asked_at ELSE t.indexed_at END
   FROM item
   WHERE t.network = item.network AND t.contract = item.contract AND t.token_id = item.token_id
   RETURNING 1 AS kept`,
);
