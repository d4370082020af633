import { statement } from '../connection/statement.js';

/** $1 id, $2 network, $3 application. */
export const selectNftJob = statement(
  'nft/select-job',
  `SELECT j.contract, j.owner, j.token_id, j.status, j.found, j.complete, j.created_at, j.finished_at,
     (SELECT coalesce(json_object_agg(c.outcome, c.tokens), '{}') FROM (
        SELECT coalesce(i.outcome, 'waiting') AS outcome, count(*) AS tokens
        FROM packhouse.nft_job_token AS i WHERE i.job_id = j.id GROUP BY 1
      ) AS c) AS counts
   FROM packhouse.nft_job AS j
   JOIN packhouse.nft_job_asker AS a ON a.job_id = j.id AND a.application = $3
   WHERE j.id = $1 AND j.network = $2`,
);
