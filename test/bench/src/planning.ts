import { KINDS } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import type { Network } from '@packhouse/networks';
import { createFairShares, plan } from '@packhouse/pipeline';
import { createQueues, type Queues } from '@packhouse/queue';
import { coverage, networkStatus } from '@packhouse/report';
import { median } from '@packhouse/rig';
import { fillIndex } from './fill-index.js';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace, type Place } from './place.js';
import { watchOthers } from './processes.js';
import type { BenchOutcome } from './result.js';

/** Published runs of each kind: a hole after every bundle. */
const RUNS = 300_000;
const RANGES = 10_000;
/** Windows to keep: twice what four ingesters of 16 slots run. */
const MAX_PENDING = 128;
const SAMPLES = 5;
const LIMIT_MS = 250;
/** Segments of which every other hole is staged, and quarantined blocks between. */
const STAGED_SEGMENTS = 40;
const QUARANTINED = 5_000;

/** A round of the planner, and the first page of coverage, where very much is ordered and published. */
export async function benchPlanning({ scope, say }: BenchOptions): Promise<BenchOutcome[]> {
  const place = await openPlace(scope, { fsync: 'off', full_page_writes: 'off', max_wal_size: '8GB' });
  const { network } = oneNetwork('http://127.0.0.1:1');
  await place.database.networks.register({ id: network.id, chainId: network.chainId });
  say(`  filling the range index with ${RUNS} runs of each kind …`);
  const { lastBlock } = await fillIndex(place.url, network.id, RUNS * KINDS.length, { gapEvery: 1 });
  const head = { number: lastBlock, finalized: lastBlock, hash: `0x${'0'.repeat(64)}` };
  await place.database.network(network.id).head.set(head);
  const others = watchOthers();
  say('  the first page of one order of everything …');
  await place.database
    .network(network.id)
    .backfills.add({ kinds: [...KINDS], from: 0, to: null, priority: 1 });
  const page = await often(() => firstPage(place.database, network.id));
  await runSql(place.url, 'DELETE FROM packhouse.backfill');
  const width = Math.floor(lastBlock / RANGES);
  await runSql(
    place.url,
    `INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority)
     SELECT n.id, 31, i * $1::int8, i * $1::int8 + $1::int8 - 11, 1
     FROM packhouse.network AS n, generate_series(0, $2::int8 - 1) AS i`,
    [width, RANGES],
  );
  const queues = await createQueues({ databaseUrl: place.url, context: place.context });
  scope.defer(() => queues.close());
  const bare = await measure(place, queues, network);
  say('  filling staging and the quarantine …');
  await runSql(place.url, STAGE);
  await runSql(place.url, QUARANTINE, [QUARANTINED]);
  const laden = await measure(place, queues, network);
  const { cores: otherCores } = others.end();
  const figures = [
    ['the first page of coverage, with its counts', page] as const,
    ...Object.entries(bare),
    ...Object.entries(laden).map(([name, ms]) => [`${name}, laden`, ms] as const),
  ];
  return figures.map(([name, ms]) => ({
    name: `planning: ${name}`,
    value: ms,
    unit: 'ms',
    target: `under ${LIMIT_MS} ms`,
    met: ms < LIMIT_MS,
    data: { otherCores },
  }));
}

/** Milliseconds by what was done; all but the first plan as the median of some. */
async function measure(place: Place, queues: Queues, network: Network): Promise<Record<string, number>> {
  // As a new leader has it.
  const database = createDatabase({
    connectionString: place.url,
    context: place.context,
    applicationName: 'bench',
  });
  const shares = createFairShares();
  const parts = {
    context: place.context,
    database,
    queues,
    network,
    maxPending: MAX_PENDING,
    shares,
    uncut: new Set<string>(),
  };
  try {
    const figures: Record<string, number> = {};
    figures['a new leader’s first plan'] = await timed(async () => void (await plan(parts)));
    // The packers are told of some runs at a time.
    while ((await plan(parts)).packJobs > 0);
    figures['a plan while nothing changed'] = await often(() => plan(parts));
    figures['a plan of all windows'] = await often(
      () => plan(parts),
      async () => void (await queues.remove('ingest', [...(await queues.pendingIds('ingest'))])),
    );
    figures['a plan after a bundle was published'] = await often(
      () => plan(parts),
      async () => void (await runSql(place.url, PUBLISH, [holeAfter(1_200_000)])),
    );
    figures.status = await often(() => networkStatus(database, network.id));
    await queues.remove('ingest', [...(await queues.pendingIds('ingest'))]);
    await queues.remove('pack', [...(await queues.pendingIds('pack'))]);
    return figures;
  } finally {
    await database.close();
  }
}

let holesFilled = 0;
/** The first block of the next hole that nobody filled yet, after a block. */
function holeAfter(block: number): number {
  return block + (holesFilled++ * 2 + 1) * 12;
}

function firstPage(database: Database, network: string): Promise<unknown> {
  return coverage({ database }, { network, limit: 500 });
}

async function often(work: () => Promise<unknown>, before?: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    await before?.();
    times.push(await timed(work));
  }
  return median(times);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** $1: fills the hole that begins there, of logs. */
const PUBLISH = `
  INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
    format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
  SELECT network_id, kind, $1::int8, $1::int8 + 11, byte_length, raw_length, proofs, format_version,
    sha256(int8send($1::int8)), first_hash, first_parent_hash, last_hash, 'made ' || $1::int8, fragments
  FROM packhouse.bundle WHERE kind = 3 AND first_block = 0`;

/** Creates partitions in which every other hole is staged, a block a fragment. */
const STAGE = `
  DO $$
  DECLARE
    network smallint := (SELECT id FROM packhouse.network);
  BEGIN
    FOR s IN 0..${STAGED_SEGMENTS - 1} LOOP
      EXECUTE format('CREATE TABLE packhouse.fragment_%s_%s (LIKE packhouse.fragment INCLUDING ALL)', network, s);
      EXECUTE format('ALTER TABLE packhouse.fragment ATTACH PARTITION packhouse.fragment_%s_%s
        FOR VALUES FROM (%s, %s) TO (%s, %s)', network, s, network, s * 1024, network, (s + 1) * 1024);
    END LOOP;
    INSERT INTO packhouse.fragment (network_id, kind, first_block, last_block, raw_length, crc32, body)
    SELECT network, kind, block, block, 400000, 0, '\\x00'
    FROM generate_series(0, 4) AS kind,
      generate_series(0, ${STAGED_SEGMENTS * 1_024 - 1}) AS block
    WHERE block % 48 >= 12 AND block % 48 < 24;
  END $$`;

/** $1 rows: blocks in holes far behind those that are staged. */
const QUARANTINE = `
  INSERT INTO packhouse.quarantine (network_id, first_block, last_block, kinds, cause, message, attempts, first_seen, next_try)
  SELECT n.id, 2400012 + i * 24, 2400012 + i * 24, 31, 'PROOF_FAILED', 'made', 1, now(), now() + interval '1 day'
  FROM packhouse.network AS n, generate_series(0, $1::int8 - 1) AS i`;
