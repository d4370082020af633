import { NFT_OUTCOMES } from '@packhouse/database';
import type { ProblemReason } from '../http/problem-reasons.js';

/** JSON Schemas of what both routes of a job tell. */
export const nftJobSchema = {
  job_id: { type: 'string', description: '32 hex digits.' },
  status: { type: 'string', enum: ['queued', 'running', 'done'] },
  outcome: {
    type: ['string', 'null'],
    enum: [...NFT_OUTCOMES, null],
    description:
      'indexed: the document is stored. missing_token: the contract has no such token, or is no contract of tokens. invalid_uri, invalid_scheme: it leads nowhere that is asked. unreachable, throttled, too_large, invalid_json: what came of asking. null: not yet.',
  },
} as const;

/** Refusals that both routes give. */
export const NFT_REFUSALS: readonly ProblemReason[] = [
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
