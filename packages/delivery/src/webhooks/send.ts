import { randomUUID } from 'node:crypto';
import type { HookWork, PendingDelivery } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { Post, PostOutcome } from '@packhouse/outbound';
import type { Context } from '@packhouse/runtime';
import { signDelivery } from './secret.js';

export interface SenderParts {
  context: Context;
  /** The key that the secrets are derived from. */
  seal: Buffer;
  post: Post;
}

/** The receiver wants no deliveries any more. */
export const GONE = 410;

type Message = Pick<PendingDelivery, 'id' | 'body'>;

/** Creates what makes, signs and sends deliveries. */
export function createSender({ context, seal, post }: SenderParts) {
  const { clock, metrics } = context;
  const ended = metrics.counter(
    'packhouse_hook_deliveries_total',
    'Tries of deliveries to webhooks by how they ended',
    ['network', 'outcome'],
  );
  const seconds = metrics.histogram(
    'packhouse_hook_delivery_seconds',
    'From the connection to a receiver until the status of its answer',
    ['network'],
    [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
  );
  return {
    toMessage(
      hook: Pick<HookWork, 'id' | 'network'>,
      type: 'feed.steps' | 'test',
      steps: readonly FeedStep[],
    ): Message {
      const timestamp = new Date(clock.now()).toISOString();
      const body = JSON.stringify({ type, timestamp, data: { hook: hook.id, network: hook.network, steps } });
      return { id: `msg_${randomUUID()}`, body };
    },
    /** Sends a message, signed with the time of this try. Rejects only if the signal is aborted. */
    async send(
      { url, network, salt, oldSalt }: Pick<HookWork, 'url' | 'network' | 'salt' | 'oldSalt'>,
      { id, body }: Message,
      signal: AbortSignal,
    ): Promise<PostOutcome> {
      const timestamp = Math.floor(clock.now() / 1_000);
      const salts = oldSalt === null ? [salt] : [salt, oldSalt];
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'packhouse',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signDelivery(seal, salts, { id, timestamp, body }),
      };
      const began = clock.elapsed();
      const outcome = await post(new URL(url), { body, headers }, signal);
      seconds.observe({ network }, (clock.elapsed() - began) / 1_000);
      const refused = 'status' in outcome ? 'refused' : outcome.failure;
      ended.inc({ network, outcome: isAccepted(outcome) ? 'accepted' : refused });
      return outcome;
    },
  };
}

export function isAccepted(outcome: PostOutcome): boolean {
  return 'status' in outcome && outcome.status >= 200 && outcome.status <= 299;
}

/** Why a delivery was not accepted, in one sentence for the operator. */
export function toReason(outcome: PostOutcome): string {
  if (!('status' in outcome)) return outcome.reason;
  const { status } = outcome;
  if (status === GONE) return 'The receiver answered 410: it is gone.';
  if (status >= 300 && status <= 399) return `The receiver answered ${status}; redirects are not followed.`;
  return `The receiver answered ${status}.`;
}
