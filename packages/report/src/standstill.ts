import type { Database } from '@packhouse/database';
import type { AlarmName } from '@packhouse/pipeline';
import type { Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { NetworkReport } from './network-report.js';

/** The alarm of a network of which nothing moves although jobs are there; ends by itself. */
const STANDSTILL: AlarmName = 'STANDSTILL';
/** After so long without a staged, published or quarantined block, in milliseconds. */
const STANDSTILL_MS = 300_000;
/** Jobs that are read per queue and state. */
const MAX_JOBS = 1_000;

type Moving = Pick<NetworkReport, 'standing' | 'newestStaged' | 'quarantined' | 'finalHoles' | 'alarms'>;

/** Remembers since when nothing moves. */
export function createStandstillWatch(parts: {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'counts' | 'peek'>;
}) {
  const { context, database, queues } = parts;
  const seen = new Map<string, { state: string; sinceMs: number }>();

  return {
    /** Networks that have jobs. Reads ids only if there are jobs. */
    async busy(): Promise<ReadonlySet<string>> {
      const networks = new Set<string>();
      for (const queue of ['ingest', 'pack'] as const) {
        const { waiting, active } = await queues.counts(queue);
        if (waiting + active === 0) continue;
        const jobs = await queues.peek(queue, MAX_JOBS);
        for (const id of [...jobs.running, ...jobs.waiting]) networks.add(id.slice(0, id.indexOf('.')));
      }
      return networks;
    },
    /** Returns for how many seconds a network with jobs stands still; raises its alarm, or clears it. */
    async check(network: string, report: Moving, isBusy: boolean): Promise<number> {
      const now = context.clock.elapsed();
      const state = describe(report);
      const before = seen.get(network);
      const sinceMs = isBusy && before?.state === state ? before.sinceMs : now;
      seen.set(network, { state, sinceMs });
      const stoodMs = now - sinceMs;
      const { alarms } = database.network(network);
      const open = report.alarms.some(({ name }) => name === STANDSTILL);
      if (stoodMs >= STANDSTILL_MS && !open) {
        const minutes = STANDSTILL_MS / 60_000;
        const message = `Nothing of ${network} was staged or published for ${minutes} minutes although jobs are queued. See whether ingesters and packers run, and their logs.`;
        await alarms.raise({ name: STANDSTILL, message });
        context.logger.error({ network, alarm: STANDSTILL }, 'ALARM: nothing moves although jobs are queued');
      }
      // A process that has just begun to look has not seen that it moves.
      if (open && before !== undefined && stoodMs === 0) await alarms.clear(STANDSTILL, 'itself');
      return stoodMs / 1_000;
    },
    forget: () => seen.clear(),
  };
}

/** Changes when a block is staged, published or quarantined, and not when the head moves. */
function describe({ standing, newestStaged, quarantined, finalHoles }: Moving): string {
  return JSON.stringify([
    standing.kinds.map(({ kind, blocks, bundles }) => [kind, blocks, bundles]),
    newestStaged?.hash,
    quarantined.map(({ cause, blocks }) => [cause, blocks]),
    finalHoles.map(({ kind, missing }) => [kind, missing.staged]),
  ]);
}
