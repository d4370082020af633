import type { Scope } from '@packhouse/local';
import { getOutput, median, processTree, startNode } from '@packhouse/rig';
import { cpuOutcomes } from './cpu-outcomes.js';
import { findProgram } from './find-program.js';
import { type GatewayProcess, startEmptyServer } from './gateway-process.js';
import { failOnErrors, type LoadReport, load, loadGenerator } from './load.js';
import { startNginx } from './nginx.js';
import { openSides } from './open-sides.js';
import type { BenchOptions } from './options.js';
import { watchOthers } from './processes.js';
import { type BenchOutcome, besideRate, figure } from './result.js';
import type { SlowReaders, SlowReport } from './slow-readers.js';

const ROUNDS = 3;
const MANY = 64;
const ADDED_MS = 1;
const SHARE_OF_EMPTY = 0.8;
const READERS = 1_000;
const PAUSE_SECONDS = 10;
/** ANSWER_MEMORY's default, and as much again for answers in transit and for each process itself. */
const MEMORY = 256 * 1_048_576;

/** The requests: each differs from the others, so that nothing is shared or cached, except for the first. */
const CALLS = {
  eth_blockNumber: call('eth_blockNumber', '[]'),
  eth_getStorageAt: call('eth_getStorageAt', `["0x${'ab'.repeat(20)}","0x1{n}","latest"]`),
  'a block of 200 KB': call('eth_getBlockByNumber', '["0x1000{n}",true]'),
  'eth_getLogs of 2 MB': call('eth_getLogs', '[{"fromBlock":"0x1000{n}","toBlock":"0xfffffff"}]'),
} as const;
const LARGE_BLOCK = call('eth_getBlockByNumber', '["0x2000{n}",true]');
/** Answered from memory after the first request for each. */
const FINAL_STORAGE = call('eth_getStorageAt', `["0x${'ab'.repeat(20)}","0x{n}","0xf"]`);
/** The goals: requests on MANY connections as a share of nginx's. */
const SHARE_OF_NGINX: Readonly<Record<CallName, number>> = {
  eth_blockNumber: 0.5,
  eth_getStorageAt: 0.4,
  'a block of 200 KB': 0.6,
  'eth_getLogs of 2 MB': 0.6,
};
/** Below this many numbers there is always one that is not in flight. */
const NUMBERS = 10_000;
/** Few enough that all are soon in memory. */
const FINAL_NUMBERS = 200;

type CallName = keyof typeof CALLS;
interface Sides {
  node: LoadReport;
  gateway: LoadReport;
  nginx: LoadReport | undefined;
  /** A proxy in Node that does nothing else. */
  bare: LoadReport;
}

/**
 * JSON-RPC through the gateway: the time it adds to asking the upstream, against nginx as a plain reverse proxy.
 *
 * The upstream's answers are prepared, so that its speed is not measured. All sides have as many workers.
 */
export async function benchForwarding(options: BenchOptions): Promise<BenchOutcome[]> {
  const { scope, say, workers } = options;
  const seconds = Math.max(1, Math.ceil(options.seconds / 4));
  const { directory, gateway, node } = await openSides(scope, workers);
  const bareProxy = startNode(scope, 'test/bench/dist/bare-proxy.js', [node, String(workers)]);
  const bare = await bareProxy.firstLine();
  const empty = await startEmptyServer(scope, workers);
  const program = await findProgram('nginx');
  const nginx =
    program === null ? undefined : await startNginx(scope, program, { directory, upstream: node, workers });
  const servers = new Map([
    [gateway.url, gateway.pid],
    [empty.url, empty.pid],
    [bare, bareProxy.pid],
    ...(nginx === undefined ? [] : [[nginx.url, nginx.pid] as const]),
  ]);
  const put = (url: string, target: string, body: string | undefined, connections: number, below = NUMBERS) =>
    load(
      scope,
      directory,
      {
        url,
        paths: [target],
        below,
        headers: {},
        connections,
        seconds,
        ...(body === undefined ? {} : { body }),
      },
      servers.get(url),
    );
  const rpc = `/ethereum/v1/${gateway.apiKey}`;
  const sides = async (body: string, connections: number): Promise<Sides> => ({
    node: await put(node, '/', body, connections),
    nginx: nginx === undefined ? undefined : await put(nginx.url, '/', body, connections),
    gateway: await put(gateway.url, rpc, body, connections),
    bare: await put(bare, '/', body, connections),
  });
  await put(gateway.url, rpc, CALLS.eth_getStorageAt, MANY);
  const others = watchOthers();
  const outcomes: BenchOutcome[] = [];
  for (const name of Object.keys(CALLS) as CallName[]) {
    for (const connections of [1, MANY]) {
      const rounds: Sides[] = [];
      for (let round = 0; round < ROUNDS; round++) rounds.push(await sides(CALLS[name], connections));
      outcomes.push(...describe(name, connections, rounds));
      say(`  ${name}, ${connections}: ${rounds.map((r) => Math.round(r.gateway.requestsPerSecond))}/s`);
    }
  }
  outcomes.push(
    ...(await cached({
      final: () => put(gateway.url, rpc, FINAL_STORAGE, MANY, FINAL_NUMBERS),
      empty: () => put(empty.url, '/empty', FINAL_STORAGE, MANY, FINAL_NUMBERS),
      healthz: () => put(gateway.url, '/healthz', undefined, MANY),
    })),
  );
  const first = outcomes[0] as { note?: string };
  first.note = [
    first.note,
    `requests from ${await loadGenerator()}`,
    `${workers} workers on all sides`,
    ...others.end().words,
  ].join('; ');
  outcomes.push(await memory(scope, gateway, rpc, workers));
  return outcomes;
}

function call(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
}

function describe(name: CallName, connections: number, rounds: readonly Sides[]): BenchOutcome[] {
  failOnErrors(rounds.flatMap(({ nginx, ...sides }) => [...Object.values(sides), ...(nginx ? [nginx] : [])]));
  const at = `${name}, ${connections} connection${connections === 1 ? '' : 's'}`;
  const added = (side: 'gateway' | 'nginx', which: 'p50Ms' | 'p99Ms'): number =>
    median(rounds.map((round) => (round[side]?.[which] ?? Number.NaN) - round.node[which]));
  const hasNginx = rounds.every(({ nginx }) => nginx !== undefined);
  const latency = (which: 'p50Ms' | 'p99Ms'): BenchOutcome => {
    const value = added('gateway', which);
    const target =
      which === 'p50Ms' && connections === 1
        ? { target: `under ${ADDED_MS} ms`, met: value < ADDED_MS }
        : undefined;
    return {
      name: `${at}: added ${which === 'p50Ms' ? 'p50' : 'p99'}`,
      value,
      unit: 'ms',
      ...target,
      ...(hasNginx
        ? { yardstick: { name: 'nginx adds', value: added('nginx', which), unit: 'ms' } as const }
        : {}),
      ...(which === 'p50Ms'
        ? {
            note: `the node alone: p50 ${figure(median(rounds.map(({ node }) => node.p50Ms)))} ms, p99 ${figure(median(rounds.map(({ node }) => node.p99Ms)))} ms; median of ${rounds.length} rounds`,
            data: { rounds },
          }
        : {}),
    };
  };
  const beside = (side: 'bare' | 'nginx', yardstick: string, least?: number): BenchOutcome => {
    const rates = (of: (round: Sides) => LoadReport): number[] =>
      rounds.map((round) => of(round).requestsPerSecond);
    const other = { name: yardstick, rates: rates((round) => round[side] as LoadReport) };
    return besideRate(
      `${at}: requests`,
      'requests/s',
      rates(({ gateway }) => gateway),
      other,
      least,
    );
  };
  const cpuBeside = (side: 'bare' | 'nginx', yardstick: string): BenchOutcome[] =>
    cpuOutcomes(
      at,
      rounds.map(({ gateway }) => gateway),
      { name: yardstick, reports: rounds.map((round) => round[side] as LoadReport) },
    );
  const toBare = beside('bare', 'a bare proxy in Node');
  const latencies = [latency('p50Ms'), latency('p99Ms')];
  if (!hasNginx) return [...latencies, toBare, ...cpuBeside('bare', 'a bare proxy in Node')];
  return [
    ...latencies,
    {
      ...beside('nginx', 'nginx', connections === 1 ? undefined : SHARE_OF_NGINX[name]),
      ...(name === 'eth_blockNumber'
        ? { note: 'all requests are alike: those that are in flight at the same time are asked once' }
        : {}),
    },
    toBare,
    ...cpuBeside('nginx', 'nginx'),
  ];
}

async function cached(put: {
  final: () => Promise<LoadReport>;
  empty: () => Promise<LoadReport>;
  healthz: () => Promise<LoadReport>;
}): Promise<BenchOutcome[]> {
  for (let round = 0; round < 2; round++) await put.final();
  await put.empty();
  await put.healthz();
  const rounds: Record<keyof typeof put, LoadReport>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ empty: await put.empty(), final: await put.final(), healthz: await put.healthz() });
  }
  failOnErrors(rounds.flatMap((round) => Object.values(round) as LoadReport[]));
  const rates = (of: keyof typeof put): number[] => rounds.map((round) => round[of].requestsPerSecond);
  const against = (name: string, which: 'empty' | 'healthz', note: string): BenchOutcome => ({
    ...besideRate(
      'answers about final blocks, from memory',
      'requests/s',
      rates('final'),
      { name, rates: rates(which) },
      SHARE_OF_EMPTY,
    ),
    note: `${MANY} connections; median share of ${rounds.length} rounds; ${note}`,
    data: { rounds },
  });
  return [
    against('an empty route of node:http', 'empty', 'asked the same, its body read and thrown away'),
    against("the gateway's /healthz", 'healthz', 'a POST with a body against a GET without'),
  ];
}

async function memory(
  scope: Scope,
  gateway: GatewayProcess,
  rpc: string,
  workers: number,
): Promise<BenchOutcome> {
  // Workers have a process above them.
  const bound = MEMORY * (1 + (workers > 1 ? workers + 1 : 1));
  const slow = async (body: string): Promise<SlowReport> => {
    const wanted: SlowReaders = {
      url: gateway.url,
      path: rpc,
      body,
      connections: READERS,
      pauseSeconds: PAUSE_SECONDS,
    };
    const program = startNode(scope, 'test/bench/dist/slow-readers.js', [JSON.stringify(wanted)]);
    return JSON.parse(await getOutput(program)) as SlowReport;
  };
  const peak = (): number => processTree(gateway.pid).reduce((sum, { peakBytes }) => sum + peakBytes, 0);
  const before = peak();
  const streamed = await slow(LARGE_BLOCK);
  const afterStreamed = peak();
  const whole = await slow(CALLS['eth_getLogs of 2 MB']);
  const value = peak();
  const said = ({ answered, refused, errors }: SlowReport): string =>
    `${answered} answered, ${refused} refused with 503, ${errors} failed`;
  return {
    name: `peak memory under ${READERS} answers of 2 MB to slow readers`,
    value: value / 1e6,
    unit: 'MB',
    target: `under ${Math.round(bound / 1e6)} MB`,
    met: value < bound && streamed.errors + whole.errors === 0,
    note: `before ${figure(before / 1e6)} MB; blocks, which are streamed: ${figure(afterStreamed / 1e6)} MB, ${said(streamed)}; eth_getLogs, which are held whole: ${said(whole)}; nobody read for ${PAUSE_SECONDS} s`,
    data: { before, afterStreamed, streamed, whole },
  };
}
