import type { Database, HookWork, PendingDelivery } from '@packhouse/database';
import type { PostOutcome } from '@packhouse/outbound';
import type { Job } from '@packhouse/queue';
import { openScope, PackhouseError } from '@packhouse/runtime';
import { GONE, isAccepted, type PostParts, toReason } from '../outbox/post-message.js';
import { createDeliveryBegin, type HookNetwork } from './begin-delivery.js';
import { createSender } from './send.js';

interface DeliverParts extends PostParts {
  database: Pick<Database, 'hookDeliveries'>;
  /** Undefined: the networks file lacks the network. */
  network(id: string): HookNetwork | undefined;
  /** Days without an accepted delivery after which a hook is quarantined. */
  quarantineDays: number;
}

/** How long one job delivers: then others have their turn. */
const JOB_MS = 10_000;
/** Failures in a row that are left to the queue, which tries again within seconds; later ones wait in their row. */
const QUICK_TRIES = 4;
/**
 * Creates what runs the jobs of hooks: it delivers what is there, in order, one delivery after the other is accepted.
 *
 * A delivery is stored before it is sent, and repeated byte for byte until it is accepted, so whichever process goes on,
 * a receiver knows a repetition by its id. Throws HOOK_FAILED if the queue is to try again, and errors of the database
 * and the feed that time heals.
 */
export function createHookDelivery(parts: DeliverParts): (job: Job<'hook'>) => Promise<void> {
  const { context, quarantineDays } = parts;
  const deliveries = parts.database.hookDeliveries;
  const { clock, logger } = context;
  const sender = createSender(parts);
  const begin = createDeliveryBegin({ context, deliveries, toMessage: sender.toMessage });

  const test = async (hook: HookWork, signal: AbortSignal): Promise<void> => {
    const began = clock.elapsed();
    const outcome = await sender.send(hook, sender.toMessage(hook, 'test', []), signal);
    const ms = Math.round(clock.elapsed() - began);
    await deliveries.noteTest(hook.id, isAccepted(outcome) ? `Accepted in ${ms} ms.` : toReason(outcome));
  };

  /** Notes a refusal. Returns if the hook has to wait; throws HOOK_FAILED if the queue is to try again. */
  const fail = async (hook: HookWork, pending: PendingDelivery, outcome: PostOutcome): Promise<void> => {
    const error = toReason(outcome);
    const gone = 'status' in outcome && outcome.status === GONE;
    const row = await deliveries.fail(hook.id, pending, { error, final: gone, quarantineDays });
    if (row === null) return;
    const facts = { hook: hook.id, network: hook.network, failures: row.failures, error };
    if (row.state === 'quarantined') logger.error(facts, 'webhook quarantined: it accepts nothing');
    else logger.warn(facts, 'a webhook did not accept a delivery');
    if (row.state !== 'active' || row.failures > QUICK_TRIES) return;
    throw new PackhouseError({
      code: 'HOOK_FAILED',
      message: `Webhook ${hook.id} of ${hook.network} did not accept a delivery: ${error}`,
      data: { hook: hook.id },
    });
  };

  const deliverAll = async (id: number, network: HookNetwork, signal: AbortSignal): Promise<void> => {
    const until = clock.elapsed() + JOB_MS;
    while (!signal.aborted && clock.elapsed() < until) {
      const hook = await deliveries.work(id);
      if (hook === null) return;
      if (hook.testRequested) await test(hook, signal);
      if (hook.state !== 'active') return;
      // Behind one that was begun before, there may be more by now.
      const known = hook.pending && { pending: hook.pending, waits: false };
      const begun = known ?? (await begin(hook, network, { signal, until }));
      if (begun === null) return;
      const { pending, waits } = begun;
      const outcome = await sender.send(hook, pending, signal);
      if (!isAccepted(outcome)) return fail(hook, pending, outcome);
      if (!(await deliveries.accept(id, pending, waits)) || waits) return;
    }
  };

  return async ({ payload, signal }) => {
    const network = parts.network(payload.network);
    if (network === undefined) return;
    const scope = openScope(signal, context.signal);
    try {
      await deliverAll(payload.hook, network, scope.signal);
    } catch (error) {
      // What time does not heal: the cursor is of a chain that is no more, or of another installation.
      if (!(error instanceof PackhouseError) || error.retryable) throw error;
      await deliveries.quarantine(payload.hook, error.message);
      logger.error({ hook: payload.hook, network: payload.network, err: error }, 'webhook quarantined');
    } finally {
      scope.close();
    }
  };
}
