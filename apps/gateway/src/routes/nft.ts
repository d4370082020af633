import { randomBytes } from 'node:crypto';
import { type KeyRow, NFT_OUTCOMES, type NftJobToken } from '@packhouse/database';
import { JOB_TOKENS, REFRESH_EVERY_MS } from '@packhouse/nft';
import { Problem, type ProblemReason } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './gateway-parts.js';
import { readRefresh } from './read-refresh.js';
import { keyParams, refusals } from './schemas.js';

/** JSON Schemas of the members that both routes return. */
const jobSchema = {
  job_id: { type: 'string', description: '32 hex digits.' },
  status: { type: 'string', enum: ['queued', 'running', 'done'] },
  outcome: {
    type: ['string', 'null'],
    enum: [...NFT_OUTCOMES, null],
    description:
      'indexed: the document is stored. missing_token: the contract has no such token, or is no contract of tokens. invalid_uri, invalid_scheme: it leads nowhere that is asked. unreachable, throttled, too_large, invalid_json: what came of asking. null: not yet.',
  },
} as const;

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
  summary: 'Fetch again what tokens say of themselves',
  description: `Makes a job, or joins the one that is under way for the same contract, owner or token. A job has ${JOB_TOKENS} tokens at most, those that moved last; a token is asked for once in ${REFRESH_EVERY_MS / 60_000} minutes, whoever asks. Networks of the core family only.`,
  tags: ['nft'],
  operationId: 'refreshNft',
  params: keyParams,
  body: {
    description: 'contractAddress alone, ownerAddress alone, or contractAddress and tokenId.',
    type: 'object',
    additionalProperties: false,
    properties: {
      contractAddress: { type: 'string', description: 'Base32 address (CIP-37) of a contract.' },
      ownerAddress: { type: 'string', description: 'Base32 address (CIP-37).' },
      tokenId: { type: 'string', pattern: '^0x[0-9a-fA-F]{1,64}$' },
    },
    oneOf: [
      { required: ['contractAddress'], not: { required: ['ownerAddress'] } },
      {
        required: ['ownerAddress'],
        not: { anyOf: [{ required: ['contractAddress'] }, { required: ['tokenId'] }] },
      },
    ],
  },
  response: {
    202: {
      description: 'There is a job.',
      type: 'object',
      required: ['job_id', 'status', 'accepted', 'status_url'],
      additionalProperties: false,
      properties: {
        job_id: jobSchema.job_id,
        status: jobSchema.status,
        accepted: {
          type: ['integer', 'null'],
          description:
            'Tokens that the job asks for: 0 where the one token was asked for less than 15 minutes ago, null while they are being found.',
        },
        status_url: { type: 'string', description: 'Where GET tells how the job stands.' },
      },
    },
    ...refusals(
      ...COMMON_REFUSALS,
      'json-malformed',
      'body-too-large',
      'media-type-unsupported',
      'too-many-jobs',
    ),
  },
} as const;

/** `PUT {base_url}<KEY>/nft-api/refresh` of one network; `wake` tells its worker that there is a job. */
export function nftRefreshRoute(parts: GatewayParts, served: ServedNetwork, wake: () => void): Route {
  const { network, base } = served;
  return {
    method: 'PUT',
    path: `${base.path}/:key/nft-api/refresh`,
    host: base.host,
    name: 'nft',
    network: network.id,
    schema: refreshSchema,
    document: { path: '/{key}/nft-api/refresh', servedAt: 'baseUrl' },
    bodyLimit: BODY_LIMIT,
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
  };
}

/** Throws the problem `network-without-nft` unless the network has such tokens. */
function refuseOtherFamilies({ network }: ServedNetwork): void {
  if (network.family === 'core') return;
  throw new Problem('network-without-nft', {
    detail: `The network ${network.id} has no refreshing of tokens; networks of the core family have.`,
  });
}

function tooManyJobs(): Problem {
  return new Problem('too-many-jobs', {
    detail: `The application has ${MAX_JOBS} jobs under way, which is as many as it may have; try again when one is done.`,
    members: { limit: MAX_JOBS, retryAfter: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

/** Tokens on one page: by default, and at most. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const statusSchema = {
  summary: 'How a job that refreshes tokens stands',
  description: 'For keys of an application that asked for it. Jobs are known for a day after their end.',
  tags: ['nft'],
  operationId: 'getNftRefresh',
  params: {
    type: 'object',
    required: ['key', 'job_id'],
    properties: { key: { type: 'string', description: 'API key.' }, job_id: jobSchema.job_id },
  },
  querystring: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
      cursor: { type: 'string', description: 'From `next` of the page before.' },
    },
  },
  response: {
    200: {
      description: 'How it stands.',
      type: 'object',
      required: ['job_id', 'status', 'target', 'found', 'complete', 'counts', 'tokens', 'next'],
      additionalProperties: true,
      properties: {
        job_id: jobSchema.job_id,
        status: jobSchema.status,
        target: { type: 'object', additionalProperties: true, description: 'As it was asked for.' },
        created_at: { type: 'string' },
        finished_at: { type: ['string', 'null'] },
        found: {
          type: ['integer', 'null'],
          description: 'Tokens of the job; null while they are being found.',
        },
        complete: {
          type: ['boolean', 'null'],
          description: 'Whether these are all tokens that there are; null while they are being found.',
        },
        counts: {
          type: 'object',
          additionalProperties: { type: 'integer' },
          description: 'Tokens by outcome; `waiting` have none yet.',
        },
        tokens: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              contractAddress: { type: 'string' },
              tokenId: { type: 'string' },
              outcome: jobSchema.outcome,
              asked_at: { type: ['string', 'null'], description: 'When the outcome was asked for.' },
              refreshed: {
                type: 'boolean',
                description: 'false: it was asked for less than 15 minutes before, and not again.',
              },
            },
          },
        },
        next: { type: ['string', 'null'], description: 'The cursor of the next page; null: none.' },
      },
    },
    ...refusals(...COMMON_REFUSALS, 'cursor-invalid', 'job-unknown'),
  },
} as const;

/** `GET {base_url}<KEY>/nft-api/refresh/<job_id>` of one network. */
export function nftStatusRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { nft } = parts.database;
  const { network, base } = served;
  return {
    method: 'GET',
    path: `${base.path}/:key/nft-api/refresh/:job_id`,
    host: base.host,
    name: 'nft',
    network: network.id,
    schema: statusSchema,
    document: { path: '/{key}/nft-api/refresh/{job_id}', servedAt: 'baseUrl' },
    async answer(exchange) {
      const { query } = exchange;
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      refuseOtherFamilies(served);
      const jobId = exchange.param('job_id');
      const limit = numberOf('limit', query.limit, DEFAULT_LIMIT, MAX_LIMIT);
      const after = numberOf('cursor', query.cursor, 0, 1_000_000_000);
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
          ...(job.contract === null ? {} : { contractAddress: job.contract }),
          ...(job.owner === null ? {} : { ownerAddress: job.owner }),
          ...(job.tokenId === null ? {} : { tokenId: job.tokenId }),
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
  };
}

function tokenBody({ contract, tokenId, outcome, askedAt, refreshed }: NftJobToken): object {
  return {
    contractAddress: contract,
    tokenId,
    outcome,
    asked_at: askedAt?.toISOString() ?? null,
    refreshed,
  };
}

function numberOf(name: 'limit' | 'cursor', value: unknown, byDefault: number, most: number): number {
  if (value === undefined) return byDefault;
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : -1;
  if (number >= (name === 'limit' ? 1 : 0) && number <= most) return number;
  if (name === 'cursor') {
    throw new Problem('cursor-invalid', { detail: 'cursor takes what `next` of an earlier page says.' });
  }
  throw new Problem('parameter-invalid', { detail: `limit takes a whole number from 1 to ${most}.` });
}

/** One text for an unknown job and for somebody else's, so that the answer does not tell which it is. */
function jobUnknown(): Problem {
  return new Problem('job-unknown', {
    detail: 'There is no such job of this application; jobs are known for a day after their end.',
  });
}
