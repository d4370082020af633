import { type Database, withLock } from '@packhouse/database';
import type { Queues } from '@packhouse/queue';
import { type Context, openScope, repeat } from '@packhouse/runtime';
import { keepAlarm } from '../outbox/keep-alarm.js';

/** Tells of changes of a network: see feed/changes.ts. */
interface HookChanges {
  /** Returns a function that ends it. */
  listen(network: string, listener: { changed(): void; lost(): void }): () => void;
}

interface DispatchParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'add' | 'pendingIds'>;
  changes: HookChanges;
}

/** How often hooks are counted, and alarms raised and cleared, in milliseconds. */
const COUNT_EVERY_MS = 5_000;
/** The longest and the shortest time between two looks at what is due, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
const LOOK_AFTER_MS = 50;
/** How often all hooks are looked after, for notices that were lost, in milliseconds. */
const SWEEP_EVERY_MS = 60_000;
/** Jobs of one look at most. */
const MAX_JOBS = 10_000;

/**
 * Makes a job for each hook that is due, until the context is aborted: when its network changes, and when its row says
 * so. One packer at a time does. There is one job of a hook at a time, so its deliveries are in order.
 */
export function hookLoop(parts: DispatchParts): Promise<void> {
  const { context, database } = parts;
  const failed = 'the webhooks were not looked after';
  return repeat(context, { everyMs: COUNT_EVERY_MS, failed }, () =>
    withLock(database, 'hooks', context.signal, async (signal) => {
      const dispatch = createDispatch(parts);
      try {
        while (!signal.aborted) await dispatch.look(signal);
      } finally {
        dispatch.close();
      }
    }),
  );
}

function createDispatch({ context, database, queues, changes }: DispatchParts) {
  const { clock } = context;
  const gauges = createGauges(context);
  const listening = new Map<string, () => void>();
  /** Networks that changed since the last look. */
  const changed = new Set<string>();
  /** Hooks whose job existed when it was to be made: it may have ended without the change. */
  let again = new Map<number, string>();
  let countedAt = Number.NEGATIVE_INFINITY;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let hooks = 0;
  let wake: () => void = () => undefined;

  const listen = (network: string): void => {
    if (listening.has(network)) return;
    const noteChange = (): void => {
      changed.add(network);
      wake();
    };
    listening.set(network, changes.listen(network, { changed: noteChange, lost: noteChange }));
    // Of what happened before nothing was heard.
    changed.add(network);
  };

  const count = async (): Promise<void> => {
    countedAt = clock.elapsed();
    const counts = await database.hookDeliveries.counts();
    hooks = counts.reduce((sum, each) => sum + each.hooks, 0);
    gauges.show(counts);
    const quarantined = new Map<string, { message: string; data: { hooks: number[] } }>();
    for (const { network, state, ids } of counts) {
      if (state === 'active') listen(network);
      if (state !== 'quarantined') continue;
      const message = `Webhooks of ${network} are quarantined and get nothing: ${ids.join(', ')}. See \`packhouse hooks show\`; \`packhouse hooks resume\` tries again.`;
      quarantined.set(network, { message, data: { hooks: ids } });
    }
    await keepAlarm(database, 'HOOK_QUARANTINED', quarantined);
  };

  const addJobs = async (): Promise<void> => {
    const now = clock.elapsed();
    if (now - sweptAt >= SWEEP_EVERY_MS) {
      for (const network of listening.keys()) changed.add(network);
      sweptAt = now;
    }
    const fresh = new Set(changed);
    changed.clear();
    const late = again;
    again = new Map();
    const networks = new Set([...fresh, ...late.values()]);
    const due = await database.hookDeliveries.due([...networks], MAX_JOBS);
    const chosen = due.filter(({ id, network, waited }) => !waited || fresh.has(network) || late.has(id));
    if (chosen.length === 0) return;
    const pending = await queues.pendingIds('hook');
    for (const { id, network } of chosen) if (pending.has(toJobId(id))) again.set(id, network);
    await queues.add(
      'hook',
      chosen.map(({ id, network }) => ({ id: toJobId(id), payload: { network, hook: id }, priority: 1 })),
    );
  };

  return {
    async look(signal: AbortSignal): Promise<void> {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (clock.elapsed() - countedAt >= COUNT_EVERY_MS) await count();
      if (hooks > 0) await addJobs();
      await clock.sleep(LOOK_AFTER_MS, signal).catch(() => undefined);
      if (changed.size > 0) return;
      const scope = openScope(signal);
      const sleeping = clock.sleep(LOOK_EVERY_MS, scope.signal).catch(() => undefined);
      await Promise.race([woken, sleeping]);
      scope.abort(new Error('woken'));
      scope.close();
    },
    close(): void {
      for (const end of listening.values()) end();
      gauges.reset();
    },
  };
}

function createGauges({ metrics }: Context) {
  const hooks = metrics.gauge('packhouse_hooks', 'Webhooks by state', ['network', 'state']);
  const failing = metrics.gauge(
    'packhouse_hook_failing_seconds',
    'For how long the webhook that fails longest has accepted nothing',
    ['network'],
  );
  const reset = (): void => {
    hooks.reset();
    failing.reset();
  };
  return {
    reset,
    show(counts: Awaited<ReturnType<Database['hookDeliveries']['counts']>>): void {
      reset();
      for (const { network, state, hooks: number, failingSeconds } of counts) {
        hooks.set({ network, state }, number);
        if (state === 'active') failing.set({ network }, failingSeconds);
      }
    },
  };
}

function toJobId(hook: number): string {
  return `hook-${hook}`;
}
