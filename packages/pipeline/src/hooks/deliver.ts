import type { Kind } from '@packhouse/chain';
import type { Database, HookWork, PendingDelivery } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { PostOutcome } from '@packhouse/outbound';
import type { Job } from '@packhouse/queue';
import { type CallSignal, openScope, PackhouseError } from '@packhouse/runtime';
import { chooseSteps } from './choose-steps.js';
import type { LogMatcher } from './match-logs.js';
import { createSender, GONE, isAccepted, type SenderParts, toReason } from './send.js';

/** The feed of a network, as hooks read it: see feed/create-feed.ts. */
export interface HookFeed {
  begin(request: { kinds: readonly Kind[]; from: number }): Promise<string>;
  read(
    cursor: string,
    options: {
      final: 'only' | 'all';
      skipHoles: boolean;
      limit: number;
      maxBlock: number | null;
      downloadUrl: string;
    },
  ): Promise<HookPage>;
  /** Resolves to true when something changed behind a page. */
  changed(page: HookPage, options: { withinMs: number; signal?: CallSignal }): Promise<boolean>;
}

interface HookPage {
  steps: FeedStep[];
  /** Behind the last step. */
  cursor: string;
  /** Whether nothing more is there now. */
  waits: boolean;
  place: { serial: number; block: number };
}

/** What hooks of one network need. */
export interface HookNetwork {
  feed: HookFeed;
  matcher: LogMatcher;
  /** Of its files: links of steps begin with it. */
  downloadUrl: string;
}

interface DeliverParts extends SenderParts {
  database: Pick<Database, 'hookDeliveries'>;
  /** Undefined: the networks file lacks the network. */
  network(id: string): HookNetwork | undefined;
  /** Days without an accepted delivery after which a hook is quarantined. */
  quarantineDays: number;
}

/** How long one job delivers: then others have their turn. */
const JOB_MS = 10_000;
/** Steps that are read at once. */
const PAGE_STEPS = 200;
/** Failures in a row that are left to the queue, which tries again within seconds; later ones wait in their row. */
const QUICK_TRIES = 4;
/** How long a woken hook whose feed has nothing new waits for this process to hear of the change. */
const HEAR_MS = 250;

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

  const test = async (hook: HookWork, signal: AbortSignal): Promise<void> => {
    const began = clock.elapsed();
    const outcome = await sender.send(hook, sender.toMessage(hook, 'test', []), signal);
    const ms = Math.round(clock.elapsed() - began);
    await deliveries.noteTest(hook.id, isAccepted(outcome) ? `Accepted in ${ms} ms.` : toReason(outcome));
  };

  /** Begins the next delivery; null: there is none now, or the hook changed. */
  const begin = async (hook: HookWork, network: HookNetwork, signal: AbortSignal): Promise<PendingDelivery | null> => {
    const { feed, matcher, downloadUrl } = network;
    let { cursor, told, waiting } = hook;
    cursor ??= await feed.begin({ kinds: hook.kinds, from: hook.from });
    for (let heard = false; !signal.aborted; ) {
      const final = hook.finalOnly ? 'only' : 'all';
      const page = await feed.read(cursor, { final, skipHoles: false, limit: PAGE_STEPS, maxBlock: null, downloadUrl });
      const isNew = page.steps.some(({ step }) => step !== 'waiting');
      if (page.waits && !isNew && !heard) {
        // The job may be quicker than the notice that it was made for.
        heard = true;
        if (await feed.changed(page, { withinMs: HEAR_MS, signal })) continue;
      }
      const chosen = await chooseSteps(page.steps, { ...hook, cursor, told, waiting }, matcher);
      const waits = page.waits && chosen.all;
      const place = chosen.all ? { ...chosen.place, cursor: page.cursor } : chosen.place;
      if (chosen.steps.length > 0) {
        const pending = { ...place, ...sender.toMessage(hook, 'feed.steps', chosen.steps), waits };
        return (await deliveries.begin(hook, pending)) ? pending : null;
      }
      if (!(await deliveries.move(hook, place, waits)) || waits) return null;
      ({ cursor, told, waiting } = place as typeof place & { cursor: string });
      hook = { ...hook, ...place };
    }
    return null;
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
      if (hook.testAsked) await test(hook, signal);
      if (hook.state !== 'active') return;
      const pending = hook.pending ?? (await begin(hook, network, signal));
      if (pending === null) return;
      const outcome = await sender.send(hook, pending, signal);
      if (!isAccepted(outcome)) return fail(hook, pending, outcome);
      if (!(await deliveries.accept(id, pending)) || pending.waits) return;
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
