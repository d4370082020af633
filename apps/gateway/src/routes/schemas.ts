import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import { PROBLEM_REASONS, type ProblemReason } from '../http/problem.js';

/** JSON Schema of the kinds of data. */
export const kindSchema = {
  type: 'string',
  enum: KINDS,
  description:
    'Kind of data: blocks with their transactions, or what stands in their place grouped by block.',
} as const;

/** JSON Schema of the path of a route with the key in its path, and of no other parameter. */
export const keyParams = {
  type: 'object',
  required: ['key'],
  properties: { key: { type: 'string', description: 'API key.' } },
} as const;

/** JSON Schema of every refusal (RFC 9457). */
const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'reason', 'code', 'requestId'],
  additionalProperties: true,
  properties: {
    type: { type: 'string', description: 'urn:packhouse:problem:<reason>' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, as one sentence.' },
    reason: { type: 'string', enum: Object.keys(PROBLEM_REASONS) },
    code: { type: 'integer', description: 'The JSON-RPC code of the same refusal.' },
    requestId: { type: 'string' },
    retryAfter: { type: 'integer', description: 'Seconds until trying again may help.' },
    plan: { type: 'string' },
    maxBlock: { type: 'integer', description: 'Highest block that the plan includes.' },
    requested: { type: 'integer', description: 'The block asked for.' },
    head: { type: ['integer', 'null'], description: 'Number of the newest block.' },
    why: { type: 'string', enum: HOLE_REASONS, description: 'Why the block is not covered.' },
    cause: { type: 'string', description: 'Of a quarantined block: error code.' },
    attempts: { type: 'integer', description: 'Of a quarantined block: tries so far.' },
    nextTry: { type: 'string', description: 'Of a quarantined block: when it is tried again.' },
    coverage: {
      type: 'object',
      description: 'The nearest covered ranges around the block asked for.',
      properties: { below: { type: ['string', 'null'] }, above: { type: ['string', 'null'] } },
    },
  },
} as const;

/** Response schemas of these refusals, one for each status. */
export function refusals(...reasons: ProblemReason[]): Record<string, unknown> {
  const byStatus: Record<string, unknown> = {};
  for (const status of new Set(reasons.map((reason) => PROBLEM_REASONS[reason].status))) {
    const those = reasons.filter((reason) => PROBLEM_REASONS[reason].status === status);
    byStatus[status] = {
      description: those.map((reason) => `${PROBLEM_REASONS[reason].title} (${reason})`).join('; '),
      content: { 'application/problem+json': { schema: problemSchema } },
    };
  }
  return byStatus;
}

/** Refusals that every authenticated route may answer. */
export const COMMON_REFUSALS: readonly ProblemReason[] = [
  'request-malformed',
  'unauthenticated',
  'forbidden',
  'network-unknown',
  'network-without-bundles',
  'kind-unknown',
  'kind-not-enabled',
  'plan-limit',
  'method-not-allowed',
  'rate-limited',
  'quota-exhausted',
  'internal',
  'unavailable',
  'disk-full',
  'draining',
];
