import { type Database, type Fence, withLock } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import {
  createBackPressure,
  createFairShares,
  createOpeningHours,
  createPlanTraces,
  describeTrial,
  leaderLock,
  plan,
  tryProofs,
} from '@packhouse/pipeline';
import type { Queues } from '@packhouse/queue';
import { type Context, openScope, type ProcessMessage, untilAborted } from '@packhouse/runtime';
import { createHeadFollower } from './follow-head.js';
import type { Wake } from './wake.js';
import { watchQueue } from './watch-queue.js';

interface LeadParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'add' | 'pendingIds' | 'remove'>;
  network: Network;
  ingest: Parameters<typeof tryProofs>[0] & Parameters<typeof createHeadFollower>[0]['ingest'];
  /** Bytes of staging, all networks together, from which on nothing new is fetched. */
  stagingMaxBytes: number;
  /** Ends the pause between two plans, and between two polls of the head. */
  wake: Wake;
  heads: Wake;
  notify(message: ProcessMessage): void;
  /** Logs an error of something that is tried again. */
  report(error: unknown, doing: string): void;
  /** Resolves when the upstreams are known to be of the network. */
  probe(): Promise<void>;
  /** Makes the next probe ask them again. */
  forgetProbe(): void;
}

/**
 * A plan is made at least this often, in milliseconds, and at once when a job is done, blocks become final or what is
 * requested changes; without these, an idle network has nothing to plan.
 */
const PLAN_EVERY_MS = { busy: 1_000, idle: 10_000 };
/** Pause between two checks for requested blocks older than those whose rules were tried, in milliseconds. */
const TRY_EVERY_MS = { busy: 5_000, idle: 30_000 };
/** Pause between two searches for backfills that are published whole, in milliseconds, and how many one looks at. */
const FOLD_EVERY_MS = { busy: 5_000, idle: 30_000 };
const FOLD_AT_ONCE = 1_000;
/** Pause after an error of node, database or queue, in milliseconds. */
const RETRY_MS = 1_000;
const RETRY_LEAD_MS = 2_000;
/** A leader that cannot reach the queue leaves the network to others for so long, at most this often, in milliseconds. */
const YIELD_MS = 6_000;
const YIELD_EVERY_MS = 60_000;

/** Leads a network whenever no other ingester does; returns when one of the signals is aborted. */
export async function leadNetwork(parts: LeadParts, until: AbortSignal): Promise<void> {
  const { context, database, network } = parts;
  const { clock } = context;
  const term = openScope(context.signal, until);
  let yieldedAt = Number.NEGATIVE_INFINITY;
  await repeat(parts, 'leading', term.signal, async () => {
    const began = clock.elapsed();
    await withLock(database, leaderLock(network.id), term.signal, async (signal, fence) => {
      const reign = openScope(signal);
      // Another ingester may reach a queue that this one cannot.
      const leave = (): void => {
        if (reign.signal.aborted || clock.elapsed() - yieldedAt < YIELD_EVERY_MS) return;
        yieldedAt = clock.elapsed();
        context.logger.warn(
          { network: network.id },
          'the queue has not answered this leader for 15 s; another ingester may lead',
        );
        reign.abort(new Error('the queue does not answer'));
      };
      const queues = watchQueue(parts.queues, clock, leave);
      await leadOnce({ ...parts, queues }, reign.signal, fence).finally(reign.close);
    });
    await clock.sleep(yieldedAt >= began ? YIELD_MS : RETRY_LEAD_MS, term.signal);
  });
  term.close();
}

/** Follows the head, tries the rules, folds finished backfills and plans, until the signal is aborted. */
async function leadOnce(parts: LeadParts, signal: AbortSignal, fence: Fence): Promise<void> {
  const { context, database, network, ingest, wake } = parts;
  // The upstreams may have changed.
  parts.forgetProbe();
  let registered = false;
  let foldedTo: number | null = null;
  let severe = false;
  let work: 'busy' | 'idle' = 'busy';
  const limitBytes = parts.stagingMaxBytes;
  const pressure = createBackPressure({ context, database, network: network.id, limitBytes });
  const planning = {
    ...parts,
    pressure,
    shares: createFairShares(),
    traces: createPlanTraces(context),
    hours: createOpeningHours(),
    uncut: new Set<string>(),
  };
  const follower = createHeadFollower({
    ...parts,
    // A leader that was cut off and does not know it moves neither the head nor what is staged.
    ingest: { ...ingest, database: database.network(network.id, fence), mayStage: () => !severe },
    moved: wake.ring,
  });
  signal.addEventListener('abort', follower.close, { once: true });
  const tryRules = createRuleTrial(parts);
  try {
    await Promise.all([
      repeat(parts, 'following the head', signal, async () => {
        await parts.probe();
        registered = true;
        await follower.step(signal);
      }),
      repeat(parts, 'trying the rules', signal, async () => {
        if (registered) await tryRules(signal);
        await context.clock.sleep(TRY_EVERY_MS[work], signal);
      }),
      repeat(parts, 'folding finished backfills', signal, async () => {
        foldedTo = await ingest.database.backfills.fold(foldedTo, FOLD_AT_ONCE);
        await context.clock.sleep(FOLD_EVERY_MS[work], signal);
      }),
      // Planning continues without the upstreams, so that staged blocks are packed.
      repeat(parts, 'planning', signal, async () => {
        // One that hangs keeps no other process from leading; what it still enqueues is a hint.
        const planned = await untilAborted(plan(planning), signal);
        severe = planned.severe;
        work = planned.idle ? 'idle' : 'busy';
        await wake.wait(PLAN_EVERY_MS[work], signal);
      }),
    ]);
  } finally {
    pressure.close();
  }
}

/**
 * Logs what the first requested block and the newest final one prove, before hours of fetching; again when older blocks
 * are requested.
 */
function createRuleTrial({ context, network, ingest, report }: LeadParts) {
  let tried = Number.POSITIVE_INFINITY;
  return async (signal: AbortSignal): Promise<void> => {
    const finalized = (await ingest.database.head.get())?.finalized ?? -1;
    const { active } = await ingest.database.backfills.runs();
    const first = Math.min(
      ...[...active.values()].map(([run]) => run?.firstBlock ?? Number.POSITIVE_INFINITY),
    );
    if (first > finalized || first >= tried) return;
    tried = first;
    const trial = await tryProofs(ingest, [first, finalized], network.bundles.kinds, signal);
    const { verified, problems } = describeTrial(network.id, trial);
    for (const line of [verified ?? [], ...problems].flat()) {
      context.logger.info({ network: network.id }, line);
    }
    for (const { number, error } of trial.failed) report(error, `proving block ${number}, to try the rules,`);
  };
}

async function repeat(
  { context, report }: LeadParts,
  doing: string,
  signal: AbortSignal,
  step: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      report(error, doing);
      await context.clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }
}
