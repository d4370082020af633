import type { Database, HoleReason, Standing } from '@packhouse/database';
import type { QueueName, Queues } from '@packhouse/queue';
import type { Context, Metrics } from '@packhouse/runtime';
import { isHole } from './hole-reasons.js';
import { type NetworkReport, networkReport } from './network-report.js';
import { createLakeGauges } from './observe-lake.js';
import { checkSilence } from './silent-nodes.js';
import { createStandstillWatch } from './standstill.js';
import { createStateGauges, type StateGauge } from './state-gauge.js';

/** Sets the gauges of the whole installation's state, see `infra/alerts/METRICS.md`. */
export interface Observer {
  /** Reads the state once. The cost grows with runs of blocks, queues and alarms, not with bundles. */
  update(): Promise<void>;
  /** Removes all gauges: another process reports from now on, and two would contradict each other. */
  forget(): void;
}

const QUEUES: readonly QueueName[] = ['ingest', 'pack'];

/**
 * Makes an observer: everything is read from Postgres and the queues, so any one process can report for all. Only one
 * should at a time (see the lock of `observeLoop`).
 */
export function createObserver(parts: { context: Context; database: Database; queues: Queues }): Observer {
  const { context, database, queues } = parts;
  const gauges = createGauges(context.metrics);
  const lake = createLakeGauges(parts);
  const standstill = createStandstillWatch(parts);
  /** The head as it was last seen, and since when, in milliseconds. */
  const heads = new Map<string, { block: number; movedAt: number }>();

  type HeadReport = Pick<NetworkReport, 'head' | 'newestStaged' | 'standing'>;
  const showHead = (network: string, { head, newestStaged, standing }: HeadReport): void => {
    if (head === null) return;
    const before = heads.get(network);
    // For a head older than this process, only the time it was noted is known.
    const movedAt = before === undefined ? head.observedAt.getTime() : context.clock.now();
    if (before?.block !== head.number) heads.set(network, { block: head.number, movedAt });
    gauges.head.set({ network }, head.number);
    gauges.finalized.set({ network }, head.finalized);
    gauges.headNoted.set({ network }, head.observedAt.getTime() / 1_000);
    gauges.headMoved.set({ network }, (heads.get(network)?.movedAt ?? movedAt) / 1_000);
    if (!followsHead(standing)) return;
    const newest = Math.max(newestStaged?.number ?? -1, ...standing.kinds.map((kind) => kind.newest ?? -1));
    gauges.headLag.set({ network }, Math.max(0, head.number - newest));
  };

  const lookAtNetwork = async (network: string, isBusy: boolean): Promise<void> => {
    const report = await networkReport({ database }, network, [
      'standing',
      'head',
      'newestStaged',
      'quarantined',
      'finalHoles',
      'alarms',
      'leaderless',
    ]);
    showHead(network, report);
    const { standing, quarantined, finalHoles } = report;
    gauges.led.set({ network }, report.leaderless === null ? 1 : 0);
    gauges.standstill.set({ network }, await standstill.check(network, report, isBusy));
    await checkSilence(parts, network, report.alarms);
    const causes = quarantined.map(({ cause, blocks }) => ({ labels: { cause }, value: blocks }));
    gauges.quarantined.fill({ network }, causes);
    if (standing.completeThrough !== null) gauges.complete.set({ network }, standing.completeThrough);
    for (const { kind, ...totals } of standing.kinds) {
      gauges.bundles.set({ network, kind }, totals.bundles);
      gauges.blocks.set({ network, kind }, totals.blocks);
      gauges.bytes.set({ network, kind }, totals.bytes);
      if (totals.newestAt !== null)
        gauges.newestBundle.set({ network, kind }, totals.newestAt.getTime() / 1_000);
    }
    await lake.look(network);
    for (const { kind, missing } of finalHoles) {
      const holes = (Object.entries(missing) as [HoleReason, number][])
        .filter(([reason]) => isHole(reason))
        .map(([reason, value]) => ({ labels: { reason }, value }));
      gauges.holes.fill({ network, kind }, holes);
    }
  };

  /** Networks that no networks file has any more are not told of: nobody follows their heads, nor fills their holes. */
  let showed: ReadonlySet<string> = new Set();
  const forgetGauges = (): void => {
    for (const gauge of Object.values<StateGauge>(gauges)) gauge.forget();
    lake.forget();
  };

  return {
    async update() {
      gauges.blocking.set({}, await database.endBlocking());
      const followed = await database.workers.networks();
      const stored = (await database.networks.list()).map(({ id }) => id);
      const shown = stored.filter((id) => followed?.includes(id) ?? true);
      // All are set again below.
      if ([...showed].some((id) => !shown.includes(id))) forgetGauges();
      showed = new Set(shown);
      const busy = await standstill.busy();
      for (const id of shown) await lookAtNetwork(id, busy.has(id));
      gauges.stagingBytes.set({}, await database.staging.diskBytes());
      gauges.superseded.set({}, await database.bundles.supersededCount());
      const pending = (await database.manifest.pending()).map(({ network, kind, entries }) => {
        return { labels: { network, kind }, value: entries };
      });
      gauges.pending.fill({}, pending);
      const alarms = await database.alarms.list();
      const open = alarms.map(({ network, name }) => ({ labels: { network, name }, value: 1 }));
      gauges.alarms.fill({}, open);
      for (const queue of QUEUES) {
        for (const [state, count] of Object.entries(await queues.counts(queue)))
          gauges.jobs.set({ queue, state }, count);
      }
      gauges.lookedAt.set({}, context.clock.now() / 1_000);
    },
    forget() {
      forgetGauges();
      heads.clear();
      standstill.forget();
    },
  };
}

/** Whether a range is requested that has no end yet, or one that ends beyond the head. */
function followsHead({ head, lastRequested, kinds }: Standing): boolean {
  const reaches = lastRequested === null || (head !== null && lastRequested >= head);
  return reaches && kinds.some((kind) => kind.requested);
}

const perNetwork = ['network'];
const perKind = ['network', 'kind'];

/** Registers the gauges; they have no values until they are set. */
function createGauges(metrics: Metrics) {
  const state = createStateGauges(metrics);
  return {
    head: state.gauge('packhouse_head_block', 'Newest block that the nodes have', perNetwork),
    finalized: state.gauge(
      'packhouse_finalized_block',
      'Newest final block; -1 if there is none',
      perNetwork,
    ),
    headNoted: state.gauge(
      'packhouse_head_noted_timestamp_seconds',
      'When the head was asked for and noted last',
      perNetwork,
    ),
    headMoved: state.gauge(
      'packhouse_head_moved_timestamp_seconds',
      'When the head was last seen to move',
      perNetwork,
    ),
    headLag: state.gauge(
      'packhouse_head_lag_blocks',
      'Blocks between the head and the newest staged or published one',
      perNetwork,
    ),
    complete: state.gauge(
      'packhouse_complete_block',
      'Block up to which all wanted kinds are published without a hole',
      perNetwork,
    ),
    newestBundle: state.gauge(
      'packhouse_newest_bundle_timestamp_seconds',
      'When the newest bundle was published',
      perKind,
    ),
    bundles: state.gauge('packhouse_index_bundles', 'Bundles in the range index', perKind),
    blocks: state.gauge('packhouse_index_blocks', 'Blocks that are published', perKind),
    bytes: state.gauge('packhouse_index_bytes', 'Bytes of all published bundles', perKind),
    holes: state.gauge(
      'packhouse_hole_blocks',
      'Blocks that are wanted and final and not published, and why',
      [...perKind, 'reason'],
    ),
    quarantined: state.gauge('packhouse_quarantined_blocks', 'Blocks in quarantine', [
      ...perNetwork,
      'cause',
    ]),
    led: state.gauge(
      'packhouse_network_led',
      '0 while no ingester leads the network although something of it is requested',
      perNetwork,
    ),
    standstill: state.gauge(
      'packhouse_standstill_seconds',
      'For how long nothing was staged or published although jobs are queued',
      perNetwork,
    ),
    blocking: state.gauge('packhouse_blocking_sessions', 'Silent sessions that hold up others'),
    superseded: state.gauge('packhouse_superseded_bundles', 'Bundles that a newer version took the place of'),
    pending: state.gauge(
      'packhouse_manifest_pending',
      'Published bundles that wait for their signed entry of the manifest',
      perKind,
    ),
    alarms: state.gauge('packhouse_open_alarms', 'Alarms that are not cleared', [...perNetwork, 'name']),
    jobs: state.gauge('packhouse_queue_jobs', 'Jobs in a queue by state', ['queue', 'state']),
    stagingBytes: state.gauge('packhouse_staging_bytes', 'Bytes on disk of all that is staged'),
    lookedAt: state.gauge(
      'packhouse_state_timestamp_seconds',
      'When the state of the installation was read last',
    ),
  };
}
