import { type Connections, statement } from '../../connection/connections.js';

/** The outcomes of asking for one token. */
export const NFT_OUTCOMES = [
  'indexed',
  'missing_token',
  'invalid_uri',
  'invalid_scheme',
  'unreachable',
  'throttled',
  'too_large',
  'invalid_json',
] as const;

export type NftOutcome = (typeof NFT_OUTCOMES)[number];

type NftJobStatus = 'queued' | 'running' | 'done';

/** The target of a job: all tokens of a contract, those of an owner, or one. */
export interface NftTarget {
  /** Canonical: lower case, no type. */
  contract: string | null;
  owner: string | null;
  /** `0x` hex without leading zeros; only together with `contract`. */
  tokenId: string | null;
}

/** One token of a network. */
export interface NftTokenRef {
  contract: string;
  tokenId: string;
}

/** A job that its holder works on. Its writes are refused once another holder has the lease. */
export interface LeasedNftJob extends NftTarget {
  id: Buffer;
  lease: Buffer;
  network: string;
  /** Its tokens are known. */
  found: boolean;
  failures: number;
  takeovers: number;
}

/** A job as the application that asked for it sees it. */
type NftJobView = NftTarget & {
  status: NftJobStatus;
  found: boolean;
  complete: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  /** Tokens by outcome; those without one yet under `waiting`. */
  counts: Readonly<Partial<Record<NftOutcome | 'waiting', number>>>;
};

/** A token of a job. */
export interface NftJobToken extends NftTokenRef {
  position: number;
  outcome: NftOutcome | null;
  requestedAt: Date | null;
  refreshed: boolean;
}

/** The stored data of a token. */
type NftTokenRow = NftTokenRef & {
  requestedAt: Date;
  outcome: NftOutcome | null;
  standard: 'erc721' | 'erc1155' | null;
  uri: string | null;
  metadata: string | null;
  indexedAt: Date | null;
};

/** $1 id, $2 network, $3 target, $4 contract, $5 owner, $6 token, $7 application, $8 its job limit, $9 recent after. */
const openNftJob = statement(
  'nft/open-job',
  `WITH allowed AS (
     SELECT 1 WHERE (
       SELECT count(*) FROM packhouse.nft_job_requester AS a JOIN packhouse.nft_job AS j ON j.id = a.job_id
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
   ), requester AS (
     INSERT INTO packhouse.nft_job_requester (job_id, application) SELECT id, $7::text FROM job
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
       WHERE network = $2::text AND contract = $4::text AND token_id = $6::text AND requested_by IS NULL
         AND outcome IS NOT NULL AND requested_at > $9::timestamptz
     ) AS recent
   FROM job`,
);

/** $1 id, $2 network, $3 application. */
const selectNftJob = statement(
  'nft/select-job',
  `SELECT j.contract, j.owner, j.token_id AS "tokenId", j.status, j.found, j.complete, j.created_at AS "createdAt",
     j.finished_at AS "finishedAt",
     (SELECT coalesce(json_object_agg(c.outcome, c.tokens), '{}') FROM (
        SELECT coalesce(i.outcome, 'waiting') AS outcome, count(*) AS tokens
        FROM packhouse.nft_job_token AS i WHERE i.job_id = j.id GROUP BY 1
      ) AS c) AS counts
   FROM packhouse.nft_job AS j
   JOIN packhouse.nft_job_requester AS a ON a.job_id = j.id AND a.application = $3
   WHERE j.id = $1 AND j.network = $2`,
);

/** $1 job, $2 position to continue after, $3 limit. */
const selectNftJobTokens = statement(
  'nft/select-job-tokens',
  `SELECT position, contract, token_id AS "tokenId", outcome, requested_at AS "requestedAt", refreshed
   FROM packhouse.nft_job_token
   WHERE job_id = $1 AND position > $2 ORDER BY position LIMIT $3`,
);

/** $1 networks, $2 lease, $3 its milliseconds. `due_at` of a running job is the end of its lease. */
const claimNftJob = statement(
  'nft/claim-job',
  `UPDATE packhouse.nft_job AS j SET
     status = 'running', lease = $2::bytea, due_at = now() + $3::float8 * interval '1 millisecond',
     takeovers = j.takeovers + (j.status = 'running')::int4
   WHERE j.id = (
     SELECT id FROM packhouse.nft_job
     WHERE status <> 'done' AND due_at <= now() AND network = ANY ($1::text[])
     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
   )
   RETURNING j.id, j.lease, j.network, j.contract, j.owner, j.token_id AS "tokenId", j.found, j.failures, j.takeovers`,
);

/** $1 job, $2 lease, $3 milliseconds from now. */
const renewNftJob = statement(
  'nft/renew-job',
  `UPDATE packhouse.nft_job SET due_at = now() + $3::float8 * interval '1 millisecond'
   WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING 1 AS kept`,
);

/** $1 job, $2 lease, $3 whether these are all, $4 contracts, $5 token ids. */
const insertNftJobTokens = statement(
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

/** $1 job. */
const selectNftWaiting = statement(
  'nft/select-waiting',
  `SELECT position, contract, token_id AS "tokenId" FROM packhouse.nft_job_token
   WHERE job_id = $1 AND outcome IS NULL ORDER BY position`,
);

/** $1 job, $2 lease, $3 position, $4 now, $5 recent after. Tokens begun by a dead gateway are asked for again. */
const beginNftToken = statement(
  'nft/begin-token',
  `WITH item AS (
     SELECT j.network, i.contract, i.token_id
     FROM packhouse.nft_job AS j
     JOIN packhouse.nft_job_token AS i ON i.job_id = j.id AND i.position = $3
     WHERE j.id = $1 AND j.lease = $2 AND j.status = 'running'
   ), mine AS (
     INSERT INTO packhouse.nft_token AS t (network, contract, token_id, requested_at, requested_by)
     SELECT network, contract, token_id, $4::timestamptz, $1 FROM item
     ON CONFLICT (network, contract, token_id) DO UPDATE SET requested_at = excluded.requested_at, requested_by = excluded.requested_by
     WHERE t.requested_by = $1
       OR (t.requested_by IS NULL AND (t.outcome IS NULL OR t.requested_at <= $5::timestamptz))
     RETURNING 1
   ), recent AS (
     UPDATE packhouse.nft_job_token AS i SET outcome = t.outcome, requested_at = t.requested_at
     FROM packhouse.nft_token AS t JOIN item USING (network, contract, token_id)
     WHERE i.job_id = $1 AND i.position = $3 AND t.requested_by IS NULL AND t.outcome IS NOT NULL
       AND t.requested_at > $5::timestamptz
     RETURNING 1
   )
   SELECT CASE
     WHEN NOT EXISTS (SELECT FROM item) THEN 'lost'
     WHEN EXISTS (SELECT FROM mine) THEN 'mine'
     WHEN EXISTS (SELECT FROM recent) THEN 'recent'
     ELSE 'busy'
   END AS leave`,
);

/** $1 job, $2 lease, $3 position, $4 outcome, $5 standard, $6 URI, $7 metadata. A failed try keeps older metadata. */
const settleNftToken = statement(
  'nft/settle-token',
  `WITH item AS (
     UPDATE packhouse.nft_job_token AS i SET
       outcome = $4::text, refreshed = true,
       requested_at = (SELECT t.requested_at FROM packhouse.nft_token AS t
                   WHERE t.network = j.network AND t.contract = i.contract AND t.token_id = i.token_id)
     FROM packhouse.nft_job AS j
     WHERE j.id = $1 AND j.lease = $2 AND j.status = 'running' AND i.job_id = j.id AND i.position = $3
     RETURNING j.network, i.contract, i.token_id
   )
   UPDATE packhouse.nft_token AS t SET
     outcome = $4::text, requested_by = NULL, standard = coalesce($5::text, t.standard), uri = coalesce($6::text, t.uri),
     metadata = CASE WHEN $4::text = 'indexed' THEN $7::text ELSE t.metadata END,
     indexed_at = CASE WHEN $4::text = 'indexed' THEN t.requested_at ELSE t.indexed_at END
   FROM item
   WHERE t.network = item.network AND t.contract = item.contract AND t.token_id = item.token_id
   RETURNING 1 AS kept`,
);

/** $1 job, $2 lease, $3 milliseconds until it may be taken again, $4 1 if it failed, else 0. */
const releaseNftJob = statement(
  'nft/release-job',
  `UPDATE packhouse.nft_job SET
     status = 'queued', lease = NULL, due_at = now() + $3::float8 * interval '1 millisecond', failures = failures + $4::int4
   WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING 1 AS kept`,
);

/** $1 job, $2 lease, $3 outcome of tokens without one. */
const endNftJob = statement(
  'nft/end-job',
  `WITH job AS (
     UPDATE packhouse.nft_job SET status = 'done', lease = NULL, finished_at = now(), found = true
     WHERE id = $1 AND lease = $2 AND status = 'running' RETURNING id
   ), rest AS (
     UPDATE packhouse.nft_job_token AS i SET outcome = $3::text FROM job
     WHERE i.job_id = job.id AND i.outcome IS NULL
   ), left_over AS (
     UPDATE packhouse.nft_token AS t SET requested_by = NULL, outcome = $3::text FROM job WHERE t.requested_by = job.id
   )
   SELECT 1 AS kept FROM job`,
);

/** $1 network, $2 contract, $3 token id. */
const selectNftToken = statement(
  'nft/select-token',
  `SELECT contract, token_id AS "tokenId", requested_at AS "requestedAt", outcome, standard, uri, metadata,
     indexed_at AS "indexedAt"
   FROM packhouse.nft_token
   WHERE network = $1 AND contract = $2 AND token_id = $3`,
);

/** A thousand at a time, so that each statement is short. */
const deleteOldNftJobs = statement(
  'nft/delete-old-jobs',
  `DELETE FROM packhouse.nft_job WHERE id IN (
     SELECT id FROM packhouse.nft_job WHERE status = 'done' AND finished_at < now() - interval '1 day'
     LIMIT 1000 FOR UPDATE SKIP LOCKED
   )`,
);

/** Jobs that refresh tokens' metadata, shared by all gateways, and their results. */
export function createNft(connections: Connections) {
  return {
    /**
     * Creates a job, or joins the running one for the same target. Returns null if this would be one more than the
     * `maxOfApplication` running jobs of the application. Tokens asked for after `recentAfter` are not asked for again.
     */
    open(
      request: NftTarget & {
        id: Buffer;
        network: string;
        application: string;
        maxOfApplication: number;
        recentAfter: Date;
      },
    ) {
      const { id, network, contract, owner, tokenId, application, maxOfApplication, recentAfter } = request;
      const target = [targetName(request), contract, owner, tokenId];
      const values = [id, network, ...target, application, maxOfApplication, recentAfter];
      return connections.queryOne<OpenedNftJob>(openNftJob, values);
    },
    /** null if there is no such job, or the application did not ask for it. */
    view: ({ id, network, application }: { id: Buffer; network: string; application: string }) =>
      connections.queryOne<NftJobView>(selectNftJob, [id, network, application]),
    /** Tokens of a job after a position, in order. */
    tokens: (id: Buffer, after: number, limit: number) =>
      connections.query<NftJobToken>(selectNftJobTokens, [id, after, limit]),
    /** The stored data of a token. */
    token: (network: string, { contract, tokenId }: NftTokenRef) =>
      connections.queryOne<NftTokenRow>(selectNftToken, [network, contract, tokenId]),
    /** Deletes jobs that ended a day ago or earlier; their results stay. */
    sweep: async () => void (await connections.query(deleteOldNftJobs, [])),
    ...createNftLeases(connections),
  };
}

/** The work on jobs; every write returns false if another holder has the job. */
function createNftLeases(connections: Connections) {
  const kept = async (...args: Parameters<Connections['query']>): Promise<boolean> =>
    (await connections.query(...args)).length > 0;
  return {
    /** Takes a due job of one of these networks that has no holder or whose lease has expired. */
    claim: ({ networks, lease, leaseMs }: { networks: readonly string[]; lease: Buffer; leaseMs: number }) =>
      connections.queryOne<LeasedNftJob>(claimNftJob, [[...networks], lease, leaseMs]),
    /** Extends the lease of a job. */
    renew: (job: LeasedNftJob, leaseMs: number) => kept(renewNftJob, [job.id, job.lease, leaseMs]),
    /** Stores the tokens of a job. */
    addTokens(job: LeasedNftJob, tokens: readonly NftTokenRef[], complete: boolean): Promise<boolean> {
      const contracts = tokens.map(({ contract }) => contract);
      const tokenIds = tokens.map(({ tokenId }) => tokenId);
      return kept(insertNftJobTokens, [job.id, job.lease, complete, contracts, tokenIds]);
    },
    /** Tokens of a job without an outcome. */
    waiting: (job: LeasedNftJob) =>
      connections.query<NftTokenRef & { position: number }>(selectNftWaiting, [job.id]),
    /**
     * Claims a token before it is asked for. `mine`: go on. `recent`: it was asked for after `recentAfter`, and the job
     * now has that outcome. `busy`: another job asks for it. `lost`: another holder has the job.
     */
    async begin(job: LeasedNftJob, position: number, time: { now: Date; recentAfter: Date }) {
      const values = [job.id, job.lease, position, time.now, time.recentAfter];
      const row = await connections.queryOne<{ leave: NftTokenLeave }>(beginNftToken, values);
      return row?.leave ?? 'lost';
    },
    /** Stores the outcome of a token; `metadata` is JSON text, only if the outcome is `indexed`. */
    settle: (
      job: LeasedNftJob,
      position: number,
      result: {
        outcome: NftOutcome;
        standard?: NftTokenRow['standard'] | undefined;
        uri?: string | undefined;
        metadata?: string | undefined;
      },
    ) => {
      const { outcome, standard = null, uri = null, metadata = null } = result;
      return kept(settleNftToken, [job.id, job.lease, position, outcome, standard, uri, metadata]);
    },
    /** Returns a job to the queue, to be taken again after `delayMs`. */
    release: (job: LeasedNftJob, { delayMs, failed }: { delayMs: number; failed: boolean }) =>
      kept(releaseNftJob, [job.id, job.lease, delayMs, failed ? 1 : 0]),
    /** Ends a job; tokens that have no outcome get `rest`. */
    end: (job: LeasedNftJob, rest: NftOutcome) => kept(endNftJob, [job.id, job.lease, rest]),
  };
}

type NftTokenLeave = 'mine' | 'recent' | 'busy' | 'lost';

type OpenedNftJob = {
  id: Buffer;
  status: NftJobStatus;
  made: boolean;
  /** Number of its tokens; null while unknown. */
  tokens: number | null;
  /** The single token was asked for so recently that it is not asked for again. */
  recent: boolean;
};

/** The target of a job as one text; addresses and ids have no spaces. */
function targetName({ contract, owner, tokenId }: NftTarget): string {
  if (owner !== null) return `owner ${owner}`;
  return tokenId === null ? `contract ${contract}` : `token ${contract} ${tokenId}`;
}

export type Nft = ReturnType<typeof createNft>;
