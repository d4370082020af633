import { randomBytes } from 'node:crypto';
import { type KeyRow, NFT_OUTCOMES, type NftJobToken } from '@packhouse/database';
import { JOB_TOKENS, REFRESH_EVERY_MS } from '@packhouse/nft';
import { Problem, type ProblemReason } from '../http/problem.js';
import type { Route } from '../http/route.js';
import { isBelowServer, type ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { keyedRoute } from './common/keyed-route.js';
import {
  described,
  flag,
  integer,
  keyParams,
  list,
  nullable,
  object,
  partial,
  record,
  refusals,
  text,
} from './common/schemas.js';
import { readRefresh } from './read-refresh.js';

/** JSON Schemas of the members that both routes return. */
const jobId = text('32 hex digits.');
const status = text(undefined, { enum: ['queued', 'running', 'done'] });

/** Refusals of both routes. */
const COMMON_REFUSALS: readonly ProblemReason[] = [
  'request-malformed',
  'parameter-invalid',
  'unauthenticated',
  'forbidden',
  'network-unknown',
  'network-without-nft',
  'method-not-allowed',
  'rate-limited',
  'quota-exhausted',
  'internal',
  'unavailable',
  'draining',
];

/** Most bytes of a body: three short strings. */
const BODY_LIMIT = 4_096;
/** Most unfinished jobs of one application. */
const MAX_JOBS = 50;
const RETRY_AFTER_SECONDS = 10;

const refreshSchema = {
  summary: 'Refresh the metadata of tokens',
  description: `Creates a job, or joins the unfinished one for the same contract, owner or token. A job has at most ${JOB_TOKENS} tokens, the last ones transferred; a token is refreshed at most once in ${REFRESH_EVERY_MS / 60_000} minutes over all applications. Networks of the core family only.`,
  tags: ['nft'],
  operationId: 'refreshNft',
  params: keyParams,
  body: object(
    {},
    {
      description: 'contractAddress alone, ownerAddress alone, or contractAddress and tokenId.',
      additionalProperties: false,
      optional: {
        contractAddress: text('Base32 address (CIP-37) of a contract.'),
        ownerAddress: text('Base32 address (CIP-37).'),
        tokenId: text(undefined, { pattern: '^0x[0-9a-fA-F]{1,64}$' }),
      },
      oneOf: [
        { required: ['contractAddress'], not: { required: ['ownerAddress'] } },
        {
          required: ['ownerAddress'],
          not: { anyOf: [{ required: ['contractAddress'] }, { required: ['tokenId'] }] },
        },
      ],
    },
  ),
  response: {
    202: described(
      'The job.',
      {
        job_id: jobId,
        status,
        accepted: nullable(
          integer(
            'Tokens that the job refreshes: 0 if the one token was refreshed less than 15 minutes ago, null while tokens are being found.',
          ),
        ),
        status_url: text('Address of the status of the job.'),
      },
      { additionalProperties: false },
    ),
    ...refusals(
      ...COMMON_REFUSALS,
      'json-malformed',
      'body-too-large',
      'media-type-unsupported',
      'too-many-jobs',
    ),
  },
};

/** `PUT {base_url}<KEY>/nft-api/refresh` of one network; `wake` tells its worker that there is a job. */
export function nftRefreshRoute(parts: GatewayParts, served: ServedNetwork, wake: () => void): Route {
  const { network } = served;
  return keyedRoute(served, '/nft-api/refresh', {
    method: 'PUT',
    name: 'nft',
    schema: refreshSchema,
    bodyLimit: BODY_LIMIT,
    tellsAddress: isBelowServer(served, 'baseUrl'),
    async admit(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      refuseOtherFamilies(served);
    },
    async answer(exchange) {
      const { application } = exchange.key as KeyRow;
      const target = readRefresh(exchange.body, network.chainId);
      const job = await parts.database.nft.open({
        ...target,
        id: randomBytes(16),
        network: network.id,
        application,
        maxOfApplication: MAX_JOBS,
        recentAfter: new Date(parts.context.clock.now() - REFRESH_EVERY_MS),
      });
      if (job === null) throw tooManyJobs();
      if (job.made) wake();
      const id = job.id.toString('hex');
      exchange
        .status(202)
        .header('cache-control', 'no-store')
        .sendJson({
          job_id: id,
          status: job.status,
          accepted: job.recent ? 0 : job.tokens,
          status_url: `${served.baseUrl}${exchange.param('key')}/nft-api/refresh/${id}`,
        });
    },
  });
}

/** Throws the problem `network-without-nft` unless the network has such tokens. */
function refuseOtherFamilies({ network }: ServedNetwork): void {
  if (network.family === 'core') return;
  throw new Problem('network-without-nft', {
    detail: `The network ${network.id} cannot refresh tokens; networks of the core family can.`,
  });
}

function tooManyJobs(): Problem {
  return new Problem('too-many-jobs', {
    detail: `The application already has ${MAX_JOBS} unfinished jobs; try again when one is done.`,
    members: { limit: MAX_JOBS },
    retryAfter: RETRY_AFTER_SECONDS,
  });
}

/** Tokens on one page: by default, and at most. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const token = partial({
  contractAddress: text(),
  tokenId: text(),
  outcome: nullable(
    text(
      'indexed: the document is stored. missing_token: the contract has no such token, or is not a token contract. invalid_uri, invalid_scheme: the URI cannot be fetched. unreachable, throttled, too_large, invalid_json: the fetch failed. null: not fetched yet.',
      { enum: [...NFT_OUTCOMES, null] },
    ),
  ),
  requested_at: nullable(text('When it was fetched.')),
  refreshed: flag('false: it was fetched less than 15 minutes earlier, and not again.'),
});

const statusSchema = {
  summary: 'Get the status of a refresh job',
  description: 'For keys of an application that requested it. Jobs are kept for one day after their end.',
  tags: ['nft'],
  operationId: 'getNftRefresh',
  params: object({ key: text('API key.'), job_id: jobId }),
  querystring: partial({
    limit: integer(undefined, { minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
    cursor: text('The `next` of the previous page.'),
  }),
  response: {
    200: described(
      'The status.',
      {
        job_id: jobId,
        status,
        target: record(true, 'As requested.'),
        found: nullable(integer('Number of tokens; null while they are being found.')),
        complete: nullable(
          flag('Whether the job has all tokens of the target; null while they are being found.'),
        ),
        counts: record(integer(), 'Tokens by outcome; `waiting`: no outcome yet.'),
        tokens: list(token),
        next: nullable(text('The cursor of the next page; null: none.')),
      },
      { additionalProperties: true, optional: { created_at: text(), finished_at: nullable(text()) } },
    ),
    ...refusals(...COMMON_REFUSALS, 'cursor-invalid', 'job-unknown'),
  },
};

/** `GET {base_url}<KEY>/nft-api/refresh/<job_id>` of one network. */
export function nftStatusRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { nft } = parts.database;
  const { network } = served;
  return keyedRoute(served, '/nft-api/refresh/:job_id', {
    name: 'nft',
    schema: statusSchema,
    async answer(exchange) {
      const { query } = exchange;
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      refuseOtherFamilies(served);
      const jobId = exchange.param('job_id');
      const limit = toNumber('limit', query.limit, DEFAULT_LIMIT, MAX_LIMIT);
      const after = toNumber('cursor', query.cursor, 0, 1_000_000_000);
      if (!/^[0-9a-f]{32}$/.test(jobId)) throw jobUnknown();
      const id = Buffer.from(jobId, 'hex');
      const job = await nft.view({ id, network: network.id, application: key.application });
      if (job === null) throw jobUnknown();
      const page = await nft.tokens(id, after, limit + 1);
      const tokens = page.slice(0, limit);
      const counts: Record<string, number> = Object.fromEntries(
        [...NFT_OUTCOMES, 'waiting' as const].map((outcome) => [outcome, job.counts[outcome] ?? 0]),
      );
      exchange.header('cache-control', 'no-store').sendJson({
        job_id: jobId,
        status: job.status,
        target: {
          contractAddress: job.contract ?? undefined,
          ownerAddress: job.owner ?? undefined,
          tokenId: job.tokenId ?? undefined,
        },
        created_at: job.createdAt.toISOString(),
        finished_at: job.finishedAt?.toISOString() ?? null,
        found: job.found ? Object.values(counts).reduce((sum, count) => sum + count, 0) : null,
        complete: job.found ? job.complete : null,
        counts,
        tokens: tokens.map(tokenBody),
        next: page.length > limit ? String(tokens.at(-1)?.position) : null,
      });
    },
  });
}

function tokenBody({ contract, tokenId, outcome, requestedAt, refreshed }: NftJobToken): object {
  return {
    contractAddress: contract,
    tokenId,
    outcome,
    requested_at: requestedAt?.toISOString() ?? null,
    refreshed,
  };
}

function toNumber(name: 'limit' | 'cursor', value: unknown, byDefault: number, most: number): number {
  if (value === undefined) return byDefault;
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : -1;
  if (number >= (name === 'limit' ? 1 : 0) && number <= most) return number;
  if (name === 'cursor') {
    throw new Problem('cursor-invalid', { detail: 'cursor must be the `next` of an earlier page.' });
  }
  throw new Problem('parameter-invalid', { detail: `limit must be an integer from 1 to ${most}.` });
}

/** One text for an unknown job and for somebody else's, so that the answer does not tell which it is. */
function jobUnknown(): Problem {
  return new Problem('job-unknown', {
    detail: 'This application has no such job; jobs are kept for one day after their end.',
  });
}
