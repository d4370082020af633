import { KINDS } from '@packhouse/chain';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import type { JobPayloads, JobRequest, QueueName } from './queues.js';

const network = z.string().regex(/^[a-z0-9-]{1,32}$/);
const block = z.int().min(0);

/**
 * The schema of each queue's payload, checked when a job is added and again when it is taken. Unknown fields are
 * ignored, as a newer version may use the same queue.
 */
const PAYLOADS = {
  ingest: z
    .object({
      network,
      firstBlock: block,
      lastBlock: block,
      kinds: z.array(z.enum(KINDS)).min(1),
      backfill: block.optional(),
      owner: z.string().max(64).optional(),
    })
    .refine((payload) => payload.firstBlock <= payload.lastBlock, {
      error: 'firstBlock is beyond lastBlock',
      path: ['firstBlock'],
    }),
  pack: z.object({ network, kind: z.enum(KINDS), firstBlock: block }),
  schedule: z.object({ schedule: z.string().regex(/^[a-z0-9-]{1,64}$/), due: z.int().optional() }),
  hook: z.object({ network, hook: z.int().min(1) }),
} as const satisfies { [N in QueueName]: z.ZodType<JobPayloads[N]> };

/** Ids have no `:`, the separator of Redis keys. */
const ID = /^[A-Za-z0-9._-]{1,200}$/;

/** Checks a payload; throws QUEUE_PAYLOAD_INVALID with each wrong field. */
export function parsePayload<N extends QueueName>(queue: N, id: string, payload: unknown): JobPayloads[N] {
  const parsed = PAYLOADS[queue].safeParse(payload);
  if (parsed.success) return parsed.data as JobPayloads[N];
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`);
  throw invalid(queue, id, wrong.join('; '), isUnknownKind(parsed.error, payload));
}

/** Whether a payload was refused only because of kinds that a newer version may know. */
export function isOfNewerVersion(error: unknown): boolean {
  return isPackhouseError(error, 'QUEUE_PAYLOAD_INVALID') && error.data.newer === true;
}

/** Whether the only problem is kinds with well-formed unknown names. */
function isUnknownKind(error: z.ZodError, payload: unknown): boolean {
  return error.issues.every(({ path }) => {
    if (path[0] !== 'kind' && !(path[0] === 'kinds' && path.length === 2)) return false;
    let value = payload;
    for (const step of path) value = (value as Record<PropertyKey, unknown>)[step];
    return typeof value === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(value);
  });
}

/** Checks a whole request; throws QUEUE_PAYLOAD_INVALID. */
export function checkRequest<N extends QueueName>(queue: N, request: JobRequest<N>): JobRequest<N> {
  if (!ID.test(request.id)) {
    throw invalid(queue, request.id, 'an id is 1 to 200 letters, digits, dots, dashes and underscores');
  }
  if (!Number.isInteger(request.priority) || request.priority < 1 || request.priority > 1_000) {
    throw invalid(queue, request.id, `priority ${request.priority} is not a whole number from 1 to 1000`);
  }
  return { ...request, payload: parsePayload(queue, request.id, request.payload) };
}

function invalid(queue: QueueName, id: string, why: string, newer = false): PackhouseError {
  return new PackhouseError({
    code: 'QUEUE_PAYLOAD_INVALID',
    message: `Job "${id}" of queue ${queue} is malformed: ${why}.`,
    data: { queue, id, newer },
  });
}
