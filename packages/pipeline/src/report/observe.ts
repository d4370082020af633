import type { Database, HoleReason, Standing } from '@packhouse/database';
import type { QueueName, Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { createStateGauges, type StateGauges } from './state-gauges.js';

export interface ObserveParts {
  context: Context;
  database: Database;
  queues: Queues;
}

/** Sets the gauges that tell how the whole installation stands. */
export interface Observer {
  /** Looks once. What it costs grows with runs of blocks, queues and alarms, not with bundles. */
  look(): Promise<void>;
  /** Takes all of the gauges back: another process tells from now on, and two would contradict each other. */
  forget(): void;
}

const QUEUES: readonly QueueName[] = ['ingest', 'pack'];

/** Blocks that are missing without being a hole: nobody wants them now, or they are not there to be had yet. */
const NO_HOLE: readonly HoleReason[] = ['not-wanted', 'cancelled', 'paused', 'not-finalized', 'beyond-head'];

/**
 * Makes an observer: everything is read from Postgres and the queues, so any one process can tell it for all. Only one
 * should at a time (see the lock of `observeLoop`).
 */
export function createObserver({ context, database, queues }: ObserveParts): Observer {
  const gauges = createStateGauges(context.metrics);
  /** The head as it was seen last, and since when, in milliseconds. */
  const heads = new Map<string, { block: number; movedAt: number }>();

  const lookAtNetwork = async (network: string): Promise<void> => {
    const [standing, head, newest, causes] = await Promise.all([
      database.holes.standing(network),
      database.head.get(network),
      database.staging.newest(network),
      database.quarantine.causes(network),
    ]);
    if (head !== null) {
      const before = heads.get(network);
      // The time it was noted is all that is known of a head that was there before this process was.
      const movedAt = before === undefined ? head.observedAt.getTime() : context.clock.now();
      if (before?.block !== head.number) heads.set(network, { block: head.number, movedAt });
      gauges.head.set({ network }, head.number);
      gauges.finalized.set({ network }, head.finalized);
      gauges.headNoted.set({ network }, head.observedAt.getTime() / 1_000);
      gauges.headMoved.set({ network }, (heads.get(network)?.movedAt ?? movedAt) / 1_000);
      if (followsHead(standing)) {
        const have = Math.max(newest?.number ?? -1, ...standing.kinds.map((kind) => kind.newest ?? -1));
        gauges.headLag.set({ network }, Math.max(0, head.number - have));
      }
    }
    gauges.quarantined.fill(
      { network },
      causes.map(({ cause, blocks }) => ({ labels: { cause }, value: blocks })),
    );
    if (standing.completeTo !== null) gauges.complete.set({ network }, standing.completeTo);
    await lookAtKinds(network, standing);
  };

  const lookAtKinds = async (network: string, standing: Standing): Promise<void> => {
    const kinds = standing.kinds.map((each) => each.kind);
    for (const kind of kinds) {
      const totals = await database.bundles.totals(network, kind);
      gauges.bundles.set({ network, kind }, totals.bundles);
      gauges.blocks.set({ network, kind }, totals.blocks);
      gauges.bytes.set({ network, kind }, totals.bytes);
      if (totals.newestAt !== null)
        gauges.newestBundle.set({ network, kind }, totals.newestAt.getTime() / 1_000);
    }
    const { firstWanted, finalized } = standing;
    if (firstWanted === null || finalized === null || finalized < firstWanted || kinds.length === 0) return;
    const range = { start: firstWanted, end: finalized };
    for (const { kind, missing } of await database.holes.count({ network, kinds, range })) {
      const holes = Object.entries(missing) as [HoleReason, number][];
      gauges.holes.fill(
        { network, kind },
        holes
          .filter(([reason]) => !NO_HOLE.includes(reason))
          .map(([reason, value]) => ({ labels: { reason }, value })),
      );
    }
  };

  return {
    async look() {
      const networks = await database.networks.list();
      for (const { id } of networks) await lookAtNetwork(id);
      gauges.stagingBytes.set({}, await database.staging.diskBytes());
      gauges.superseded.set({}, await database.bundles.supersededCount());
      const alarms = await database.alarms.list();
      gauges.alarms.fill(
        {},
        alarms.map(({ network, name }) => ({ labels: { network, name }, value: 1 })),
      );
      for (const queue of QUEUES) {
        for (const [state, count] of Object.entries(await queues.counts(queue)))
          gauges.jobs.set({ queue, state }, count);
      }
      gauges.lookedAt.set({}, context.clock.now() / 1_000);
    },
    forget() {
      for (const gauge of Object.values(gauges) as StateGauges[keyof StateGauges][]) gauge.forget();
      heads.clear();
    },
  };
}

/** Whether a range is wanted that has no end yet, or one that ends beyond the head. */
function followsHead({ head, lastWanted, kinds }: Standing): boolean {
  return kinds.some((kind) => kind.wanted) && (lastWanted === null || (head !== null && lastWanted >= head));
}
