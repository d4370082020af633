import { randomUUID } from 'node:crypto';
import type { Post, PostOutcome } from '@packhouse/outbound';
import type { Context } from '@packhouse/runtime';
import { signDelivery } from './secret.js';

/** What is posted, the same in each try. */
interface Message {
  id: string;
  body: string;
}

export interface PostParts {
  context: Context;
  /** The key that secrets are derived from, and addresses encrypted with. */
  seal: Buffer;
  post: Post;
}

/** The receiver wants no messages any more. */
export const GONE = 410;

export function makeMessageId(): string {
  return `msg_${randomUUID()}`;
}

/**
 * Creates what posts a message, signed with the time of this try by the secrets of these salts, or unsigned. Rejects only
 * if the signal is aborted.
 */
export function createMessagePost({ context, seal, post }: PostParts) {
  return (
    url: string,
    { id, body }: Message,
    salts: { salt: Buffer; oldSalt: Buffer | null } | null,
    signal: AbortSignal,
  ): Promise<PostOutcome> => {
    const timestamp = Math.floor(context.clock.now() / 1_000);
    const all = salts === null ? [] : [salts.salt, ...(salts.oldSalt === null ? [] : [salts.oldSalt])];
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signDelivery(seal, all, { id, timestamp, body }),
    };
    const headers = { 'content-type': 'application/json', 'user-agent': 'packhouse', ...(salts && signed) };
    return post(new URL(url), { body, headers }, signal);
  };
}

export function isAccepted(outcome: PostOutcome): boolean {
  return 'status' in outcome && outcome.status >= 200 && outcome.status <= 299;
}

/** Why a message was not accepted, in one sentence for the operator. */
export function toReason(outcome: PostOutcome): string {
  if (!('status' in outcome)) return outcome.reason;
  const { status } = outcome;
  if (status === GONE) return 'The receiver answered 410: it is gone.';
  if (status >= 300 && status <= 399) return `The receiver answered ${status}; redirects are not followed.`;
  return `The receiver answered ${status}.`;
}
