import { KINDS } from '@packhouse/chain';
import { median } from '@packhouse/rig';
import { cpuOutcomes } from './cpu-outcomes.js';
import type { FilledIndex } from './fill-index.js';
import { openFilledPlace } from './filled-place.js';
import { startEmptyServer } from './gateway-process.js';
import { failOnErrors, type LoadReport, load, loadGenerator } from './load.js';
import type { BenchOptions } from './options.js';
import { watchOthers } from './processes.js';
import { type BenchOutcome, type BenchResult, besideRate, figure } from './result.js';

const CONNECTIONS = 64;
const ROUNDS = 5;
const SHARE = 0.8;
const P99_MS = 5;

interface Round {
  pointers: LoadReport;
  /** A server of node:http with an empty route. */
  bare: LoadReport;
  /** The gateway's route that uses no store or upstream. */
  healthz: LoadReport;
}

/** Pointer lookups at random blocks of all kinds, the index filled, against empty routes. */
export async function benchPointers(options: BenchOptions): Promise<BenchOutcome[]> {
  const { scope, seconds, workers, say } = options;
  const { place, network, index, startGateway } = await openFilledPlace(scope, options);
  const gateway = await startGateway({ workers });
  const empty = await startEmptyServer(scope, workers);
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
      url === empty.url ? empty.pid : gateway.pid,
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
  await put(empty.url, ['/empty']);
  const others = watchOthers();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      bare: await put(empty.url, ['/empty']),
      pointers: await pointers(),
      healthz: await put(gateway.url, ['/healthz']),
    });
  }
  const full = median(rounds.map((round) => round.pointers.requestsPerSecond));
  const pauseMs = (CONNECTIONS * 1_000) / (full / 2);
  const half: LoadReport[] = [];
  for (let round = 0; round < ROUNDS; round++) half.push(await pointers({ pauseMs }));
  const parts = { index, workers, cold, rounds, half, others: others.end() };
  return describe({ ...parts, generator: await loadGenerator() });
}

function describe(parts: {
  index: FilledIndex;
  cold: LoadReport;
  workers: number;
  rounds: readonly Round[];
  /** Pointers asked for half as often as they were answered in the rounds. */
  half: readonly LoadReport[];
  others: ReturnType<ReturnType<typeof watchOthers>['end']>;
  generator: string;
}): BenchOutcome[] {
  const { index, cold, rounds, half, others } = parts;
  failOnErrors([cold, ...half, ...rounds.flatMap((round) => Object.values(round) as LoadReport[])]);
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const rate = (which: keyof Round): number[] => rounds.map((round) => round[which].requestsPerSecond);
  const against = (name: string, which: 'bare' | 'healthz'): BenchResult =>
    besideRate('pointer lookups', 'requests/s', rate('pointers'), { name, rates: rate(which) }, SHARE);
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
        ...others.words,
      ].join('; '),
      data: { index, rounds, half, otherCores: others.cores },
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
