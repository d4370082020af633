import pg from 'pg';
import type { FilledIndex } from '../fill-index.js';

/** What is in the filled installation. */
export const FILLED = { networks: 300, nodes: 900, backfills: 10_200, keys: 5_000 } as const;

const NODES_A_NETWORK = FILLED.nodes / FILLED.networks;
const BACKFILLS_A_NETWORK = FILLED.backfills / FILLED.networks;
/** Blocks of a network, of which the first 200,000 are published. */
const HEAD = 1_050_000;
const PUBLISHED = 200_000;
const BUNDLE = 2_000;

/**
 * Fills an installation, straight into the tables: networks, each with nodes that two processes report, backfills in all
 * states and bundles; keys with usage; two hours of history; quarantine, alarms, changes, schedules and operators.
 * The network `net-000` exists and has the filled index. Nodes and workers stay fresh: their reports are of tomorrow.
 */
export async function fillInstallation(url: string, index: FilledIndex): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of [NETWORKS, NODES, WORK, KEYS, HISTORY, OPERATORS]) await client.query(text);
    const span = Math.ceil((index.lastBlock * 1.2) / BACKFILLS_A_NETWORK);
    await client.query(toHeads(index.lastBlock * 1.25));
    await client.query(toBackfills(span));
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

const NETWORKS = `
  INSERT INTO packhouse.network (name, chain_id)
  SELECT 'net-' || lpad(n::text, 3, '0'), 1000 + n FROM generate_series(1, ${FILLED.networks - 1}) AS n;
  INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
    format_version, published_at, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
  SELECT n.id, k, b, b + ${BUNDLE - 1}, 1000000, 5000000, 31, 1, now() - random() * interval '2 days', hash, hash, hash,
    hash, format('%s/%s/%s-%s.json.gz', n.name, k, b, b + ${BUNDLE - 1}), '\\x00'
  FROM packhouse.network AS n, generate_series(0, 4) AS k, generate_series(0, ${PUBLISHED - 1}, ${BUNDLE}) AS b,
    LATERAL (SELECT sha256(int8send(b * 8 + k)) AS hash) AS h
  WHERE n.name <> 'net-000'`;

/** `top`: the head of the first network. */
const toHeads = (top: number): string => `
  INSERT INTO packhouse.head (network_id, block, hash, finalized, observed_at)
  SELECT id, head, '\\x00', head - 64, now()
  FROM (SELECT id, CASE WHEN name = 'net-000' THEN ${Math.floor(top)} ELSE ${HEAD} END AS head
    FROM packhouse.network) AS n`;

/** `span`: blocks of a backfill of the first network. */
const toBackfills = (span: number): string => `
  INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority, state, done, done_at, owner,
    deadline, max_requests)
  SELECT n.id, 31, k * n.span, CASE WHEN k < ${BACKFILLS_A_NETWORK - 1} THEN (k + 1) * n.span - 1 END,
    CASE WHEN k % 7 = 0 THEN 10 ELSE 100 END,
    CASE WHEN k % 10 = 8 THEN 'paused' WHEN k % 10 = 9 THEN 'cancelled' ELSE 'active' END,
    (k + 1) * n.span <= n.published, CASE WHEN (k + 1) * n.span <= n.published THEN now() END,
    'team-' || k % 12, CASE WHEN k % 5 = 0 THEN now() + interval '9 days' END, CASE WHEN k % 6 = 0 THEN 1000000 END
  FROM generate_series(0, ${BACKFILLS_A_NETWORK - 1}) AS k, (
    SELECT id, CASE WHEN name = 'net-000' THEN ${span} ELSE 30000 END AS span,
      CASE WHEN name = 'net-000' THEN ${span} ELSE ${PUBLISHED} END AS published
    FROM packhouse.network
  ) AS n ORDER BY k, n.id;
  INSERT INTO packhouse.backfill_usage (backfill_id, day, requests, units, bytes)
  SELECT id, 20000, id * 10, id * 10, id * 1000 FROM packhouse.backfill`;

const NODES = `
  INSERT INTO packhouse.worker (id, role, host, pid, networks, networks_digest, slots, jobs, seen_at)
  SELECT gen_random_uuid(), CASE WHEN w < 3 THEN 'ingester' ELSE 'packer' END, 'host-' || w, w,
    (SELECT array_agg(name) FROM packhouse.network WHERE w = 3 OR id % 3 = w), 'aa', 4, '[{"job": "j", "seconds": 3}]',
    now() + interval '1 day'
  FROM generate_series(0, 3) AS w;
  INSERT INTO packhouse.node_report (process, network, upstream, provider, role, host, report, seen_at)
  SELECT p.id, n.name, 'https://node-' || u || '.' || n.name || '.example', 'provider-' || (n.id + u) % 20, p.role,
    'host-' || p.role, jsonb_build_object('state', 'ok', 'client', 'Geth/v1.14.12-stable/linux-amd64/go1.23.4',
      'head', ${HEAD} - u, 'inFlight', 3, 'maxInFlight', 32, 'invalidResponses', 0, 'leftOut', null, 'throttledBy', null,
      'methods', (SELECT jsonb_agg(jsonb_build_object('method', 'eth_method' || m, 'calls', 100 * m, 'ms', 12.5))
        FROM generate_series(1, 10) AS m),
      'errors', '[{"meaning": "timeout", "calls": 3}, {"meaning": "limited", "calls": 12}]'::jsonb,
      'totals', '{"calls": 100000, "errors": 15, "answers": 99985, "ms": 1250000}'::jsonb, 'lastError', null,
      'failingForMs', CASE WHEN n.id % 100 = 7 THEN 600000 END, 'capabilities',
      '["blocks", "receipts", "traces", "archive", "batches"]'::jsonb, 'missingCapabilities', '["filters"]'::jsonb),
    now() + interval '1 day'
  FROM packhouse.network AS n, generate_series(1, ${NODES_A_NETWORK}) AS u,
    (SELECT gen_random_uuid() AS id, role FROM unnest(ARRAY['ingester', 'gateway']) AS role) AS p`;

const WORK = `
  INSERT INTO packhouse.quarantine (network_id, first_block, last_block, kinds, cause, message, upstream, attempts,
    first_seen, next_try, tried)
  SELECT id, 300000 + q * 10, 300000 + q * 10 + 1, 31, (ARRAY['PROOF_FAILED', 'BLOCKS_UNAVAILABLE', 'NODE_TIMEOUT'])[1 + q % 3],
    'receipts root: expected 0x01, got 0x02', 'https://node-1.' || name || '.example', 3, now() - interval '1 hour',
    now() + interval '1 hour', jsonb_build_array(jsonb_build_object('upstream', 'https://node-1.' || name || '.example',
      'cause', 'PROOF_FAILED', 'message', 'receipts root', 'payloadDigest', null))
  FROM packhouse.network, generate_series(0, 9) AS q WHERE id % 3 = 0;
  INSERT INTO packhouse.alarm (network_id, name, message, raised_at)
  SELECT id, 'NODE_ANSWER_FALSE', 'A node of ' || name || ' sent something wrong.', now() - interval '1 hour'
  FROM packhouse.network WHERE id % 2 = 0;
  INSERT INTO packhouse.budget (provider, unit, per_second, per_month, reserve, price_per_million, currency)
  SELECT 'provider-' || p, 'requests', 500, 300000000, 0.2, 1.5, 'USD' FROM generate_series(0, 19) AS p;
  INSERT INTO packhouse.budget_wait (network, provider, period, until)
  SELECT name, 'provider-1', 'day', now() + interval '6 hours' FROM packhouse.network WHERE id % 10 = 1;
  INSERT INTO packhouse.upstream_usage (day, network, upstream, provider, method, requests, units, bytes)
  SELECT (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' - d, n.name, 'https://node-' || u || '.' || n.name || '.example',
    'provider-' || (n.id + u) % 20, 'eth_method' || m, 1000, 1000, 1000000
  FROM packhouse.network AS n, generate_series(1, ${NODES_A_NETWORK}) AS u, generate_series(0, 29) AS d,
    generate_series(1, 4) AS m;
  INSERT INTO packhouse.change (at, actor, subject, action, after)
  SELECT now() - n * interval '1 minute', 'ada', 'backfill ' || n % ${FILLED.backfills},
    CASE WHEN n % 3 = 0 THEN 'pause' ELSE 'set' END, '{"priority": 10}'
  FROM generate_series(1, 20000) AS n;
  INSERT INTO packhouse.schedule (name, cron, zone, command)
  SELECT 'schedule-' || n, '0 4 * * *', 'UTC', '{audit}' FROM generate_series(1, 50) AS n;
  INSERT INTO packhouse.schedule_run (schedule, due, started_at, ended_at, outcome, exit_code, message)
  SELECT 'schedule-' || n, date_trunc('day', now()) - d * interval '1 day', now() - d * interval '1 day',
    now() - d * interval '1 day', 'done', 0, 'ok'
  FROM generate_series(1, 50) AS n, generate_series(1, 100) AS d`;

const KEYS = `
  INSERT INTO packhouse.application (name) SELECT 'application-' || n FROM generate_series(1, 500) AS n;
  INSERT INTO packhouse.api_key (application_id, plan, prefix, sha256)
  SELECT a.id, 'standard', 'ph_' || substr(md5(k || a.name), 1, 9), sha256((k || a.name)::bytea)
  FROM packhouse.application AS a, generate_series(1, ${FILLED.keys / 500}) AS k WHERE a.name LIKE 'application-%';
  INSERT INTO packhouse.key_usage (key_id, day, requests, calls, downloads, errors, bytes)
  SELECT id, (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' - d, 1000, 900, 100, 3, 5000000
  FROM packhouse.api_key, generate_series(0, 29) AS d;
  INSERT INTO packhouse.method_usage (key_id, day, network, method, requests, units, errors, bytes)
  SELECT id, (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' - d, 'net-00' || m, 'eth_method' || m, 300, 300, 1, 1000000
  FROM packhouse.api_key, generate_series(0, 29) AS d, generate_series(1, 3) AS m`;

/** The hour before in rows of hours, and the present one in rows of minutes. */
const HISTORY = `
  INSERT INTO packhouse.history_series (subject, name)
  SELECT 'installation', 'all'
  UNION ALL SELECT 'network', name FROM packhouse.network
  UNION ALL SELECT DISTINCT 'node', json_build_array(network, upstream)::text FROM packhouse.node_report
  UNION ALL SELECT 'key', id::text FROM packhouse.api_key;
  INSERT INTO packhouse.history_hour (hour, series, minutes, figures)
  SELECT h.hour, s.id, h.minutes, array_fill(1.5::float4, ARRAY[60, w.width])
  FROM packhouse.history_series AS s,
    LATERAL (SELECT CASE s.subject WHEN 'installation' THEN 18 WHEN 'network' THEN 6 ELSE 5 END AS width) AS w,
    (SELECT extract(epoch FROM now())::int8 / 3600 - b AS hour, array_agg(m::int2 ORDER BY m) AS minutes
     FROM generate_series(1, 12) AS b, generate_series(0, 59) AS m GROUP BY b) AS h;
  INSERT INTO packhouse.history_minute (minute, series, figures)
  SELECT m, s.id, array_fill(1.5::float4, ARRAY[CASE s.subject WHEN 'installation' THEN 18 WHEN 'network' THEN 6 ELSE 5 END])
  FROM packhouse.history_series AS s,
    generate_series(extract(epoch FROM date_trunc('hour', now()))::int8 / 60, extract(epoch FROM now())::int8 / 60 - 1) AS m;
  INSERT INTO packhouse.history_recent (minute, subject, series, figures)
  SELECT m, s.subject, array_agg(s.id), array_agg(1.5::float4) FROM packhouse.history_series AS s,
    generate_series(extract(epoch FROM now())::int8 / 60 - 120, extract(epoch FROM now())::int8 / 60 - 1) AS m
  WHERE s.subject IN ('network', 'node') GROUP BY m, s.subject`;

const OPERATORS = `
  INSERT INTO packhouse.operator (name, role) SELECT 'operator-' || n, 'viewer' FROM generate_series(1, 50) AS n;
  INSERT INTO packhouse.sign_in (method, name, address, outcome)
  SELECT 'password', 'operator-' || n % 50, '10.0.0.1', 'accepted' FROM generate_series(1, 5000) AS n`;
