import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import { PROBLEM_REASONS, type ProblemReason } from '../../http/problem.js';

type Schema = Readonly<Record<string, unknown>>;

/** JSON Schema of a value; `facts` are its other keywords. */
const schema =
  (type: string) =>
  (description?: string, facts: Schema = {}): Schema => ({ type, description, ...facts });

export const text = schema('string');
export const integer = schema('integer');
export const flag = schema('boolean');

/** JSON Schema of a block number. */
export const block = (description?: string): Schema => integer(description, { minimum: 0 });

export function nullable(value: Schema): Schema {
  return { ...value, type: [value.type, 'null'] };
}

export function list(items: Schema, description?: string): Schema {
  return { type: 'array', items, description };
}

/** JSON Schema of an object that has these properties, and maybe the `optional` ones. */
export function object(
  properties: Record<string, Schema>,
  { optional = {}, ...facts }: Schema & { optional?: Record<string, Schema> } = {},
) {
  const required = Object.keys(properties);
  const all = { ...properties, ...optional };
  return { type: 'object', ...(required.length > 0 && { required }), properties: all, ...facts };
}

/** JSON Schema of an object that may lack any of these properties. */
export function partial(properties: Record<string, Schema>, facts: Schema = {}) {
  return { type: 'object', properties, ...facts };
}

/** As `object`, with a description. */
export function described(description: string, ...rest: Parameters<typeof object>) {
  return { description, ...object(...rest) };
}

/** JSON Schema of an object with any names. */
export const record = (values: Schema | true, description?: string): Schema => ({
  type: 'object',
  additionalProperties: values,
  description,
});

/** JSON Schema of the kinds of data. */
export const kindSchema = text(
  'Kind of data: blocks with their transactions, or receipts, logs or traces grouped by block.',
  { enum: KINDS },
);

/** JSON Schema of the path of a route with the key in its path, and of no other parameter. */
export const keyParams = object({ key: text('API key.') });

/** JSON Schema of every refusal (RFC 9457). */
const problemSchema = object(
  {
    type: text('urn:packhouse:problem:<reason>'),
    title: text(),
    status: integer(),
    detail: text('What happened, as one sentence.'),
    reason: text(undefined, { enum: Object.keys(PROBLEM_REASONS) }),
    code: integer('The JSON-RPC code of the same refusal.'),
    requestId: text(),
  },
  {
    additionalProperties: true,
    optional: {
      retryAfter: integer('Seconds to wait before trying again.'),
      plan: text(),
      maxBlock: integer('Highest block that the plan includes.'),
      requested: integer('The requested block.'),
      head: nullable(integer('Number of the newest block.')),
      holeReason: text('Why the block is not covered.', { enum: HOLE_REASONS }),
      cause: text('Error code, if the block is quarantined.'),
      attempts: integer('Attempts so far, if the block is quarantined.'),
      firstSeen: text('Since when, if the block is quarantined.'),
      nextTry: text('Time of the next attempt, if the block is quarantined.'),
      replacedBy: nullable(text('Hash of the block that has the number of a removed one; null: none yet.')),
      coverage: partial(
        { below: nullable(text()), above: nullable(text()) },
        { description: 'The nearest covered ranges around the requested block.' },
      ),
    },
  },
);

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
