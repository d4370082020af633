import { randomBytes } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { JOB_TOKENS, REFRESH_EVERY_MS } from '@packhouse/nft';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { Site } from '../sites/site.js';
import type { GatewayParts } from './gateway-parts.js';
import { NFT_REFUSALS, nftJobSchema } from './nft-schemas.js';
import { readRefresh } from './read-refresh.js';
import { refusals } from './schemas.js';

/** Bytes of a body: three short strings. */
const BODY_LIMIT = 4_096;
/** Jobs of one application under way. */
const MAX_JOBS = 50;
const RETRY_AFTER_SECONDS = 10;

const schema = {
  summary: 'Fetch again what tokens say of themselves',
  description: `Makes a job, or joins the one that is under way for the same contract, owner or token. A job has ${JOB_TOKENS} tokens at most, those that moved last; a token is asked for once in ${REFRESH_EVERY_MS / 60_000} minutes, whoever asks. Networks of the core family only.`,
  tags: ['nft'],
  operationId: 'refreshNft',
  params: {
    type: 'object',
    required: ['key'],
    properties: { key: { type: 'string', description: 'API key.' } },
  },
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
        job_id: nftJobSchema.job_id,
        status: nftJobSchema.status,
        accepted: {
          type: ['integer', 'null'],
          description:
            'Tokens that the job asks for: 0 where the one token was asked for less than 15 minutes ago, null while they are being found.',
        },
        status_url: { type: 'string', description: 'Where GET tells how the job stands.' },
      },
    },
    ...refusals(
      ...NFT_REFUSALS,
      'json-malformed',
      'body-too-large',
      'media-type-unsupported',
      'too-many-jobs',
    ),
  },
} as const;

/** `PUT {base_url}<KEY>/nft-api/refresh` of one network; `wake` tells its worker that there is a job. */
export function nftRefreshRoute(parts: GatewayParts, site: Site, wake: () => void): Route {
  const { network, base } = site;
  return {
    method: 'PUT',
    path: `${base.path}/:key/nft-api/refresh`,
    host: base.host,
    name: 'nft',
    network: network.id,
    schema,
    document: { path: '/{key}/nft-api/refresh', servedAt: 'baseUrl' },
    bodyLimit: BODY_LIMIT,
    async admit(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      refuseOtherFamilies(site);
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
          status_url: `${site.baseUrl}${exchange.param('key')}/nft-api/refresh/${id}`,
        });
    },
  };
}

/** Throws the problem `network-without-nft` on networks that have no such tokens. */
export function refuseOtherFamilies({ network }: Site): void {
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
