import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { createScope } from '@packhouse/local';
import { firstLine, startNode } from './child.js';
import { cpuOutcomes } from './cpu-outcomes.js';
import { type FilledIndex, fillIndex } from './fill-index.js';
import { startGateway } from './gateway-process.js';
import { type LoadReport, load, loadGenerator } from './load.js';
import { median } from './median.js';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace } from './place.js';
import { watchOthers } from './process-tree.js';
import { type BenchOutcome, type BenchResult, figure } from './result.js';

const CONNECTIONS = 64;
const ROUNDS = 5;
const SHARE = 0.8;
const P99_MS = 5;

/** No durability: the data is discarded after the run, and the measurements only read. */
const FAST_LOAD = { fsync: 'off', full_page_writes: 'off', max_wal_size: '16GB', shared_buffers: '1GB' };

interface Round {
  pointers: LoadReport;
  /** A server of node:http with an empty route. */
  bare: LoadReport;
  /** The gateway's route that uses no store or upstream. */
  healthz: LoadReport;
}

/** Pointer lookups at random blocks of all kinds, the index filled, against empty routes. */
export async function benchPointers(options: BenchOptions): Promise<BenchOutcome[]> {
  const { rows, seconds, workers, say } = options;
  const scope = createScope();
  try {
    const place = await openPlace(scope, FAST_LOAD);
    const { network, file: networksFile } = oneNetwork('http://127.0.0.1:1');
    await place.database.networks.register({ id: network.id, chainId: network.chainId });
    say(`  filling the range index with ${rows.toLocaleString('en-US')} rows …`);
    const index = await fillIndex(place.url, network.id, rows);
    say(`  filled in ${index.seconds.toFixed(0)} s, ${(index.diskBytes / 1e9).toFixed(1)} GB`);
    const objects = path.join(place.directory, 'objects');
    await mkdir(objects);
    const gateway = await startGateway(scope, place, { networksFile, objects, workers });
    const empty = startNode(scope, 'test/bench/dist/empty-server.js', [String(workers)]);
    const emptyUrl = `http://127.0.0.1:${await firstLine(empty, 'the empty server')}`;

    const put = (url: string, paths: string[], pause: { pauseMs?: number } = {}): Promise<LoadReport> =>
      load(
        scope,
        place.directory,
        {
          url,
          paths,
          below: index.lastBlock + 1,
          headers: {},
          connections: CONNECTIONS,
          seconds,
          ...pause,
        },
        url === emptyUrl ? empty : gateway.child,
      );
    const prefix = `/${network.id}/v1/${gateway.apiKey}/bundle-api`;
    const pointers = (pause?: { pauseMs: number }): Promise<LoadReport> =>
      put(
        gateway.url,
        KINDS.map((kind) => `${prefix}/${kind}/{n}`),
        pause,
      );
    const cold = await pointers();
    say(`  cold: ${Math.round(cold.requestsPerSecond)} requests/s, p99 ${cold.p99Ms.toFixed(1)} ms`);
    await pointers();
    await put(emptyUrl, ['/empty']);
    const others = watchOthers();
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({
        bare: await put(emptyUrl, ['/empty']),
        pointers: await pointers(),
        healthz: await put(gateway.url, ['/healthz']),
      });
    }
    const full = median(rounds.map((round) => round.pointers.requestsPerSecond));
    const pauseMs = (CONNECTIONS * 1_000) / (full / 2);
    const half: LoadReport[] = [];
    for (let round = 0; round < ROUNDS; round++) half.push(await pointers({ pauseMs }));
    const parts = { index, workers, cold, rounds, half, otherCores: others.end() };
    return describe({ ...parts, generator: await loadGenerator() });
  } finally {
    await scope.close();
  }
}

function describe(parts: {
  index: FilledIndex;
  cold: LoadReport;
  workers: number;
  rounds: readonly Round[];
  /** Pointers asked for half as often as they were answered in the rounds. */
  half: readonly LoadReport[];
  otherCores: number | undefined;
  generator: string;
}): BenchOutcome[] {
  const { index, cold, rounds, half, otherCores } = parts;
  const errors = [cold, ...half, ...rounds.flatMap((round) => Object.values(round) as LoadReport[])];
  const failed = errors.reduce((sum, report) => sum + report.errors, 0);
  if (failed > 0) throw new Error(`${failed} lookups were not answered with 200`);
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const value = middle(({ pointers }) => pointers.requestsPerSecond);
  const against = (name: string, which: 'bare' | 'healthz'): BenchResult => {
    // The share of each round, so that changes of the machine's speed cancel out.
    const share = middle((round) => round.pointers.requestsPerSecond / round[which].requestsPerSecond);
    return {
      name: 'pointer lookups',
      value,
      unit: 'requests/s',
      yardstick: { name, value: value / share, unit: 'requests/s' },
      target: `at least ${SHARE * 100} %`,
      met: share >= SHARE,
    };
  };
  const p99 = middle(({ pointers }) => pointers.p99Ms);
  const halfP99 = median(half.map(({ p99Ms }) => p99Ms));
  return [
    {
      ...against('an empty route of node:http', 'bare'),
      note: [
        `${index.rows.toLocaleString('en-US')} bundles (${(index.diskBytes / 1e9).toFixed(1)} GB, loaded in ${index.seconds.toFixed(0)} s)`,
        `random blocks of all kinds on ${CONNECTIONS} connections from ${parts.generator}`,
        `${parts.workers} workers on either side`,
        `median share of ${rounds.length} rounds`,
        ...(otherCores === undefined ? [] : [`other programs took ${otherCores.toFixed(2)} cores meanwhile`]),
      ].join('; '),
      data: { index, rounds, half, otherCores },
    },
    against("the gateway's /healthz", 'healthz'),
    {
      name: `pointer lookups, p99 at ${CONNECTIONS} connections`,
      value: p99,
      unit: 'ms',
      note: `every connection asks again as soon as it is answered, so the server is never idle; the empty route: ${figure(middle(({ bare }) => bare.p99Ms))} ms, the gateway's /healthz: ${figure(middle(({ healthz }) => healthz.p99Ms))} ms`,
    },
    {
      name: 'pointer lookups, p99 at half load',
      value: halfP99,
      unit: 'ms',
      target: `under ${P99_MS} ms`,
      met: halfP99 < P99_MS,
      note: `${CONNECTIONS} connections that pause between requests: ${figure(median(half.map(({ requestsPerSecond }) => requestsPerSecond)))} requests/s; p50 ${figure(median(half.map(({ p50Ms }) => p50Ms)))} ms`,
    },
    ...cpuOutcomes(
      'pointer lookups',
      rounds.map(({ pointers }) => pointers),
      { name: 'an empty route', reports: rounds.map(({ bare }) => bare) },
    ),
    {
      name: 'pointer lookups, a gateway just ready',
      value: cold.requestsPerSecond,
      unit: 'requests/s',
      note: `its first seconds: p50 ${cold.p50Ms.toFixed(2)} ms, p99 ${cold.p99Ms.toFixed(2)} ms`,
      data: { cold },
    },
  ];
}
