import { KINDS } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import type { JobPayloads, JobRequest, QueueName } from './queues.js';

const network = z.string().regex(/^[a-z0-9-]{1,32}$/);
const block = z.int().min(0);

/** The form of each queue's payload: what is added is checked, and what is taken is checked again. */
const PAYLOADS = {
  ingest: z
    .strictObject({ network, start: block, end: block, kinds: z.array(z.enum(KINDS)).min(1) })
    .refine((payload) => payload.start <= payload.end, { error: 'start is beyond end', path: ['start'] }),
  pack: z.strictObject({ network, kind: z.enum(KINDS), start: block }),
} as const satisfies { [N in QueueName]: z.ZodType<JobPayloads[N]> };

/** The queues there are. */
export const QUEUE_NAMES = Object.keys(PAYLOADS) as QueueName[];

/** Ids have no `:` because Redis keys are joined by it. */
const ID = /^[A-Za-z0-9._-]{1,200}$/;

/** Checks a payload; throws QUEUE_PAYLOAD_INVALID that names each wrong field. */
export function parsePayload<N extends QueueName>(queue: N, id: string, payload: unknown): JobPayloads[N] {
  const parsed = PAYLOADS[queue].safeParse(payload);
  if (parsed.success) return parsed.data as JobPayloads[N];
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`);
  throw invalid(queue, id, wrong.join('; '));
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

function invalid(queue: QueueName, id: string, why: string): PackhouseError {
  return new PackhouseError({
    code: 'QUEUE_PAYLOAD_INVALID',
    message: `Job "${id}" of queue ${queue} is malformed: ${why}.`,
    data: { queue, id },
  });
}
