import type { Metrics } from '@packhouse/runtime';

type Labels = Record<string, string>;

/** A gauge that can be filled anew and taken back. */
export interface StateGauge {
  set(labels: Labels, value: number): void;
  /** Sets the values below these labels and takes back those that were there before and are not any more. */
  fill(labels: Labels, values: readonly { labels: Labels; value: number }[]): void;
  forget(): void;
}

/** What an observer tells, see `infra/alerts/METRICS.md`. */
export type StateGauges = ReturnType<typeof createStateGauges>;

/** Registers the gauges; they have no values until they are set. */
export function createStateGauges(metrics: Metrics) {
  const kept = (gauge: ReturnType<typeof metrics.gauge<string>>): StateGauge => {
    const empty = (): void => {
      gauge.reset();
      // One without labels says 0 otherwise, which nobody has seen.
      gauge.remove({});
    };
    empty();
    const filled = new Map<string, Map<string, Labels>>();
    return {
      set: (labels, value) => gauge.set(labels, value),
      fill(below, values) {
        const place = JSON.stringify(below);
        const now = new Map(values.map(({ labels }) => [JSON.stringify(labels), { ...below, ...labels }]));
        for (const [key, labels] of filled.get(place) ?? []) if (!now.has(key)) gauge.remove(labels);
        for (const { labels, value } of values) gauge.set({ ...below, ...labels }, value);
        filled.set(place, now);
      },
      forget() {
        empty();
        filled.clear();
      },
    };
  };
  return {
    head: kept(metrics.gauge('packhouse_head_block', 'Newest block that the nodes have', ['network'])),
    finalized: kept(
      metrics.gauge('packhouse_finalized_block', 'Newest final block; -1 where there is none', ['network']),
    ),
    headNoted: kept(
      metrics.gauge('packhouse_head_noted_timestamp_seconds', 'When the head was asked for and noted last', [
        'network',
      ]),
    ),
    headMoved: kept(
      metrics.gauge('packhouse_head_moved_timestamp_seconds', 'When the head was last seen to move', [
        'network',
      ]),
    ),
    headLag: kept(
      metrics.gauge(
        'packhouse_head_lag_blocks',
        'Blocks between the head and the newest staged or published one',
        ['network'],
      ),
    ),
    complete: kept(
      metrics.gauge(
        'packhouse_complete_block',
        'Block up to which all wanted kinds are published without a hole',
        ['network'],
      ),
    ),
    newestBundle: kept(
      metrics.gauge('packhouse_newest_bundle_timestamp_seconds', 'When the newest bundle was published', [
        'network',
        'kind',
      ]),
    ),
    bundles: kept(
      metrics.gauge('packhouse_index_bundles', 'Bundles in the range index', ['network', 'kind']),
    ),
    blocks: kept(metrics.gauge('packhouse_index_blocks', 'Blocks that are published', ['network', 'kind'])),
    bytes: kept(
      metrics.gauge('packhouse_index_bytes', 'Bytes of all published bundles', ['network', 'kind']),
    ),
    holes: kept(
      metrics.gauge('packhouse_hole_blocks', 'Blocks that are wanted and final and not published, and why', [
        'network',
        'kind',
        'reason',
      ]),
    ),
    quarantined: kept(
      metrics.gauge('packhouse_quarantined_blocks', 'Blocks in quarantine', ['network', 'cause']),
    ),
    superseded: kept(
      metrics.gauge('packhouse_superseded_bundles', 'Bundles that a newer version took the place of'),
    ),
    alarms: kept(
      metrics.gauge('packhouse_open_alarms', 'Alarms that nobody has cleared', ['network', 'name']),
    ),
    jobs: kept(
      metrics.gauge('packhouse_queue_jobs', 'Jobs in a queue by where they stand', ['queue', 'state']),
    ),
    stagingBytes: kept(metrics.gauge('packhouse_staging_bytes', 'Bytes on disk of all that is staged')),
    lookedAt: kept(
      metrics.gauge('packhouse_state_timestamp_seconds', 'When the state of the installation was read last'),
    ),
  };
}
