import type { HookWork, PendingDelivery } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { PostOutcome } from '@packhouse/outbound';
import { createMessagePost, isAccepted, makeMessageId, type PostParts } from '../outbox/post-message.js';

type Message = Pick<PendingDelivery, 'id' | 'body'>;

/** Creates what makes, signs and sends deliveries. */
export function createSender(parts: PostParts) {
  const { clock, metrics } = parts.context;
  const post = createMessagePost(parts);
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
      return { id: makeMessageId(), body };
    },
    /** Rejects only if the signal is aborted. */
    async send(
      hook: Pick<HookWork, 'url' | 'network' | 'salt' | 'oldSalt'>,
      message: Message,
      signal: AbortSignal,
    ): Promise<PostOutcome> {
      const { network } = hook;
      const began = clock.elapsed();
      const outcome = await post(hook.url, message, hook, signal);
      seconds.observe({ network }, (clock.elapsed() - began) / 1_000);
      const refused = 'status' in outcome ? 'refused' : outcome.failure;
      ended.inc({ network, outcome: isAccepted(outcome) ? 'accepted' : refused });
      return outcome;
    },
  };
}
