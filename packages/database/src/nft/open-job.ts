import { statement } from '../connection/statement.js';

/** $1 id, $2 network, $3 target, $4 contract, $5 owner, $6 token id, $7 application, $8 its jobs at most, $9 recent after. */
export const openNftJob = statement(
  'nft/open-job',
  `WITH allowed AS (
     SELECT 1 WHERE (
       SELECT count(*) FROM packhouse.nft_job_asker AS a JOIN packhouse.nft_job AS j ON j.id = a.job_id
       WHERE a.application = $7::text AND j.status <> 'done'
     ) < $8::int8 OR EXISTS (
       SELECT FROM packhouse.nft_job WHERE network = $2::text AND target = $3::text AND status <> 'done'
     )
   ), job AS (
     INSERT INTO packhouse.nft_job AS j (id, network, target, contract, owner, token_id, found, complete)
     SELECT $1::bytea, $2::text, $3::text, $4::text, $5::text, $6::text, $6::text IS NOT NULL, $6::text IS NOT NULL
     FROM allowed
     ON CONFLICT (network, target) WHERE status <> 'done' DO UPDATE SET target = excluded.target
     RETURNING j.id, j.status, j.found, j.xmax = 0 AS made
   ), asker AS (
     INSERT INTO packhouse.nft_job_asker (job_id, application) SELECT id, $7::text FROM job
     ON CONFLICT DO NOTHING
   ), token AS (
     INSERT INTO packhouse.nft_job_token (job_id, position, contract, token_id)
     SELECT id, 1, $4::text, $6::text FROM job WHERE made AND $6::text IS NOT NULL
     RETURNING 1
   )
   SELECT id, status, made,
     CASE WHEN found THEN
       (SELECT count(*) FROM packhouse.nft_job_token AS i WHERE i.job_id = job.id) + (SELECT count(*) FROM token)
     END AS tokens,
     EXISTS (
       SELECT FROM packhouse.nft_token
       WHERE network = $2::text AND contract = $4::text AND token_id = $6::text AND asked_by IS NULL
         AND outcome IS NOT NULL AND asked_at > $9::timestamptz
     ) AS recent
   FROM job`,
);
