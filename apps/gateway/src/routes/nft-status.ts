import { NFT_OUTCOMES, type NftJobToken } from '@packhouse/database';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { Site } from '../sites/site.js';
import type { GatewayParts } from './gateway-parts.js';
import { refuseOtherFamilies } from './nft-refresh.js';
import { NFT_REFUSALS, nftJobSchema } from './nft-schemas.js';
import { refusals } from './schemas.js';

/** Tokens of one page. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const schema = {
  summary: 'How a job that refreshes tokens stands',
  description: 'For keys of an application that asked for it. Jobs are known for a day after their end.',
  tags: ['nft'],
  operationId: 'getNftRefresh',
  params: {
    type: 'object',
    required: ['key', 'job_id'],
    properties: { key: { type: 'string', description: 'API key.' }, job_id: nftJobSchema.job_id },
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
        job_id: nftJobSchema.job_id,
        status: nftJobSchema.status,
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
              outcome: nftJobSchema.outcome,
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
    ...refusals(...NFT_REFUSALS, 'cursor-invalid', 'job-unknown'),
  },
} as const;

/** `GET {base_url}<KEY>/nft-api/refresh/<job_id>` of one network. */
export function nftStatusRoute(parts: GatewayParts, site: Site): Route {
  const { nft } = parts.database;
  const { network, base } = site;
  return {
    method: 'GET',
    path: `${base.path}/:key/nft-api/refresh/:job_id`,
    host: base.host,
    name: 'nft',
    network: network.id,
    schema,
    document: { path: '/{key}/nft-api/refresh/{job_id}', servedAt: 'baseUrl' },
    async answer(exchange) {
      const { query } = exchange;
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      refuseOtherFamilies(site);
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

/** One text for a job that is unknown and for somebody else's, so that nobody learns which it is. */
function jobUnknown(): Problem {
  return new Problem('job-unknown', {
    detail: 'There is no such job of this application; jobs are known for a day after their end.',
  });
}
