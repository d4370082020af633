// The dashboards: rows of panels, each with a title, a unit of Grafana and expressions by legend.
// `$network` and `$__rate_interval` are variables of Grafana.
const N = 'network=~"$network"';
const rate = (metric, by, labels = N) => `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
const increase = (metric, by, labels = N) =>
  `sum by (${by}) (increase(${metric}{${labels}}[$__rate_interval]))`;
const max = (metric, by, labels = N) => `max by (${by}) (${metric}{${labels}})`;
const sum = (metric, by, labels = N) => `sum by (${by}) (${metric}{${labels}})`;
const quantile = (q, metric, by, labels = N) =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket{${labels}}[$__rate_interval])))`;

/** One expression, with the labels that it is by as its legend. */
const by = (of, metric, labels) => ({
  [labels
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ')]: of(metric, labels),
});

/** `[title, unit, {legend: expression}]` */
export const DASHBOARDS = {
  overview: {
    title: 'Overview',
    panels: [
      ['Blocks behind the head', 'short', by(max, 'packhouse_head_lag_blocks', 'network')],
      [
        'Finalized blocks that are not complete',
        'short',
        {
          '{{network}}': `${max('packhouse_finalized_block', 'network')} - ${max('packhouse_complete_block', 'network')}`,
        },
      ],
      ['Open alarms', 'short', by(max, 'packhouse_open_alarms', 'network, name')],
      ['Holes by reason', 'short', by(sum, 'packhouse_hole_blocks', 'network, reason')],
      ['Quarantined blocks by cause', 'short', by(sum, 'packhouse_quarantined_blocks', 'network, cause')],
      [
        'Age of the head',
        's',
        { '{{network}}': `time() - ${max('packhouse_head_moved_timestamp_seconds', 'network')}` },
      ],
      ['Processes that answer', 'short', { '{{job}}': 'sum by (job) (up{job=~"packhouse.*"})' }],
      [
        'Memory of processes',
        'bytes',
        { '{{job}} {{instance}}': 'process_resident_memory_bytes{job=~"packhouse.*"}' },
      ],
      [
        'CPU of processes',
        'percentunit',
        { '{{job}} {{instance}}': 'rate(process_cpu_seconds_total{job=~"packhouse.*"}[$__rate_interval])' },
      ],
      [
        'Event loop delay (p99)',
        's',
        { '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{job=~"packhouse.*"}' },
      ],
    ],
  },
  upstreams: {
    title: 'Upstreams',
    panels: [
      ['Healthy', 'bool', by(max, 'packhouse_upstream_healthy', 'network, upstream')],
      [
        'Blocks behind the best upstream',
        'short',
        {
          '{{network}} {{upstream}}': `${max('packhouse_upstream_head_block', 'network')} - on (network) group_right () ${max('packhouse_upstream_head_block', 'network, upstream')}`,
        },
      ],
      ['Requests by outcome', 'reqps', by(rate, 'packhouse_upstream_requests_total', 'upstream, outcome')],
      ['Requests by method', 'reqps', by(rate, 'packhouse_upstream_requests_total', 'upstream, method')],
      [
        'Latency (p50, p99)',
        's',
        {
          '{{upstream}} p50': quantile(0.5, 'packhouse_upstream_request_seconds', 'upstream'),
          '{{upstream}} p99': quantile(0.99, 'packhouse_upstream_request_seconds', 'upstream'),
        },
      ],
      ['Received', 'Bps', by(rate, 'packhouse_upstream_received_bytes_total', 'network, upstream')],
      [
        'Limit of requests in flight',
        'short',
        by(max, 'packhouse_upstream_in_flight_limit', 'network, upstream'),
      ],
      [
        'Invalid responses',
        'short',
        by(increase, 'packhouse_upstream_invalid_responses_total', 'upstream, method'),
      ],
    ],
  },
  gateway: {
    title: 'Gateway',
    panels: [
      ['Requests by route', 'reqps', by(rate, 'packhouse_gateway_requests_total', 'route')],
      ['Requests by status', 'reqps', by(rate, 'packhouse_gateway_requests_total', 'status')],
      [
        'Latency by route (p99)',
        's',
        { '{{route}}': quantile(0.99, 'packhouse_gateway_request_seconds', 'route') },
      ],
      ['Sent', 'Bps', by(rate, 'packhouse_gateway_sent_bytes_total', 'route')],
      ['JSON-RPC calls by code', 'reqps', by(rate, 'packhouse_rpc_calls_total', 'network, code')],
      [
        'JSON-RPC latency (p50, p99)',
        's',
        {
          '{{network}} p50': quantile(0.5, 'packhouse_rpc_call_seconds', 'network'),
          '{{network}} p99': quantile(0.99, 'packhouse_rpc_call_seconds', 'network'),
        },
      ],
      ['Answers by source', 'reqps', by(rate, 'packhouse_rpc_answers_total', 'source')],
      ['JSON-RPC calls in progress', 'short', by(sum, 'packhouse_rpc_in_flight', 'network')],
      [
        'Memory of caches and budgets',
        'bytes',
        { '{{instance}} {{cache}}': 'max by (instance, cache) (packhouse_gateway_cache_bytes)' },
      ],
      ['Damaged files', 'short', by(increase, 'packhouse_gateway_damaged_files_total', 'network, kind')],
      ['Open feeds', 'short', { '{{transport}}': 'sum by (transport) (packhouse_gateway_feeds)' }],
      ['Steps of feeds', 'ops', by(rate, 'packhouse_feed_steps_total', 'network, step')],
    ],
  },
  packing: {
    title: 'Packing',
    panels: [
      ['Blocks staged', 'ops', by(rate, 'packhouse_staged_blocks_total', 'network')],
      ['Bundles published', 'ops', by(rate, 'packhouse_published_bundles_total', 'network, kind')],
      ['Bytes published', 'Bps', by(rate, 'packhouse_published_bytes_total', 'network, kind')],
      [
        'Staging, and its limit',
        'bytes',
        {
          staging: 'max(packhouse_staging_bytes)',
          limit: 'max(packhouse_staging_limit_bytes)',
        },
      ],
      ['Fetching waits for staging', 'bool', by(max, 'packhouse_backpressure', 'network')],
      ['Jobs by state', 'short', { '{{queue}} {{state}}': 'max by (queue, state) (packhouse_queue_jobs)' }],
      [
        'Tries of jobs by outcome',
        'ops',
        { '{{queue}} {{outcome}}': rate('packhouse_queue_jobs_total', 'queue, outcome', 'job=~".+"') },
      ],
      ['Failed proofs', 'short', by(increase, 'packhouse_failed_proofs_total', 'network, proof')],
      ['Reorganisations', 'short', by(increase, 'packhouse_reorganisations_total', 'network')],
      [
        'Deliveries to webhooks by outcome',
        'ops',
        by(rate, 'packhouse_hook_deliveries_total', 'network, outcome'),
      ],
      ['Longest failing webhook', 's', by(max, 'packhouse_hook_failing_seconds', 'network')],
      [
        'Messages to channels of notifications by outcome',
        'ops',
        { '{{kind}} {{outcome}}': rate('packhouse_notifications_total', 'kind, outcome', 'kind=~".+"') },
      ],
      [
        'Failing channels of notifications',
        's',
        { '{{kind}} {{channel}}': 'max by (kind, channel) (packhouse_notification_failing_seconds)' },
      ],
      [
        'Channels of notifications by state',
        'short',
        { '{{kind}} {{state}}': 'max by (kind, state) (packhouse_notification_channels)' },
      ],
      [
        'Failed looks for notifications',
        'short',
        { '{{family}}': increase('packhouse_notification_looks_failed_total', 'family', 'family=~".+"') },
      ],
      [
        'Age of the last sample of the history',
        's',
        { age: 'time() - max(packhouse_history_sampled_timestamp_seconds)' },
      ],
      [
        'Samples of the history by outcome',
        'short',
        { '{{outcome}}': increase('packhouse_history_samples_total', 'outcome', 'outcome=~".+"') },
      ],
      [
        'Series that the history sums as others',
        'short',
        { '{{subject}}': 'max by (subject) (packhouse_history_summed_series)' },
      ],
    ],
  },
  store: {
    title: 'Store',
    panels: [
      ['Published bytes', 'bytes', by(max, 'packhouse_index_bytes', 'network, kind')],
      ['Published blocks', 'short', by(max, 'packhouse_index_blocks', 'network, kind')],
      ['Bundles', 'short', by(max, 'packhouse_index_bundles', 'network, kind')],
      [
        'Age of the newest bundle',
        's',
        {
          '{{network}} {{kind}}': `time() - ${max('packhouse_newest_bundle_timestamp_seconds', 'network, kind')}`,
        },
      ],
      ['Bundles without a signed entry', 'short', by(max, 'packhouse_manifest_pending', 'network, kind')],
      ['Bundles audited', 'short', by(increase, 'packhouse_audit_bundles_total', 'network, result')],
      ['Bundles that tables lack', 'short', by(max, 'packhouse_lake_bundles_behind', 'network, table')],
      [
        'Blocks of tables behind final',
        'short',
        {
          '{{network}} {{table}}':
            'max by (network) (packhouse_finalized_block{network=~"$network"}) - on (network) group_right max by (network, table) (packhouse_lake_block{network=~"$network"})',
        },
      ],
      ['Rows written to tables', 'short', by(rate, 'packhouse_lake_rows_total', 'network, table')],
      ['Bytes written to tables', 'Bps', by(rate, 'packhouse_lake_bytes_total', 'network, table')],
      ['Disk of bundles', 'bytes', { '{{what}}': 'max by (what) (packhouse_store_disk_bytes)' }],
      [
        'Connections to Postgres',
        'short',
        { '{{job}} {{state}}': 'sum by (job, state) (packhouse_database_connections)' },
      ],
    ],
  },
};
