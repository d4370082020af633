import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { KINDS } from '@packhouse/chain';
import type { Scope } from '@packhouse/local';
import { atShare, median, readProcess } from '@packhouse/rig';
import type { FilledIndex } from './fill-index.js';
import { openFilledPlace } from './filled-place.js';
import type { GatewayProcess } from './gateway-process.js';
import type { BenchOptions } from './options.js';
import type { Place } from './place.js';
import { type BenchOutcome, figure } from './result.js';

const WAITERS = 1_000;
/** Blocks that are staged while they wait; the first ones, for which the code is compiled, do not count. */
const BLOCKS = 20;
const WARM_BLOCKS = 2;
/** Nearly as many as a gateway has connections. */
const MANY = 9_900;
const STEPS_PER_SECOND = 5_000;
const P99_MS = 300;
const BYTES_A_WAITER = 10_240;
/** How long memory is left to settle before it is read. */
const SETTLE_MS = 3_000;

/** The feed: history from a filled index, a new block to many that wait, and what one that waits holds in memory. */
export async function benchFeed({ scope, rows, seconds, say }: BenchOptions): Promise<BenchOutcome[]> {
  const { place, index, startGateway } = await openFilledPlace(scope, { rows, say });
  const gateway = await startGateway({
    env: { CONNECTIONS_PER_ADDRESS: '10000', FEEDS_PER_KEY: '10000' },
  });
  const history = await readHistory(gateway, index, seconds);
  say(`  history: ${figure(history.perSecond)} steps/s`);
  const wakes = await wakeWaiters(scope, place, gateway, index);
  say(`  ${WAITERS} waiters: p99 ${figure(wakes.p99Ms)} ms`);
  const memory = await holdMany(scope, gateway, index);
  return [
    {
      name: 'feed: history',
      value: history.perSecond,
      unit: 'bundle steps/s',
      target: `at least ${STEPS_PER_SECOND.toLocaleString('en-US')}`,
      met: history.perSecond >= STEPS_PER_SECOND,
      note: `one client, five kinds, from ${index.rows.toLocaleString('en-US')} bundles; the gateway took ${figure(history.cpuShare * 100)} % of a core`,
      data: { index, history },
    },
    {
      name: `feed: a block to ${WAITERS.toLocaleString('en-US')} waiting clients, p99`,
      value: wakes.p99Ms,
      unit: 'ms',
      target: `under ${P99_MS} ms`,
      met: wakes.p99Ms < P99_MS,
      note: `from the call that stages it until each client has its step, ${BLOCKS} blocks behind ${WARM_BLOCKS} that do not count; p50 ${figure(wakes.p50Ms)} ms, slowest ${figure(wakes.maxMs)} ms; clients and gateway share the machine; ${figure(wakes.windowReads)} reads of the newest blocks a block`,
      data: { wakes },
    },
    {
      name: 'feed: memory of a waiter',
      value: memory.waiterBytes / 1_024,
      unit: 'KiB',
      yardstick: { name: 'an idle connection', value: memory.idleBytes / 1_024, unit: 'KiB' },
      target: `at most ${BYTES_A_WAITER / 1_024} KiB`,
      met: memory.waiterBytes <= BYTES_A_WAITER,
      note: `resident memory of the gateway per waiting request, its connection included, ${MANY.toLocaleString('en-US')} of them; the yardstick are as many connections that were answered once`,
      data: { memory },
    },
  ];
}

async function readHistory(gateway: GatewayProcess, { lastBlock }: FilledIndex, seconds: number) {
  const feed = `${gateway.url}/ethereum/v1/${gateway.apiKey}/bundle-api/feed`;
  let query = `kinds=${KINDS.join(',')}&from=${Math.floor(lastBlock / 3)}`;
  let steps = 0;
  const cpu = cpuSeconds(gateway);
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  while (performance.now() < until) {
    const answer = await fetch(`${feed}?${query}&limit=10000&wait=0`);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`the feed answered ${answer.status}: ${text}`);
    const lines = text.trimEnd().split('\n');
    steps += lines.filter((line) => line.startsWith('{"step":"bundle"')).length;
    query = `cursor=${(JSON.parse(lines.at(-1) as string) as { cursor: string }).cursor}`;
  }
  const took = (performance.now() - startedAt) / 1_000;
  return { steps, perSecond: steps / took, cpuShare: (cpuSeconds(gateway) - cpu) / took };
}

/** A client on a connection of its own that asks for a feed again and again. */
function openWaiter(
  scope: Scope,
  gateway: GatewayProcess,
  got: (block: number) => void,
): { ask(query: string): void; close(): void } {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  scope.defer(() => void socket.destroy());
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    const head = text.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
    if (head === -1 || text.length < head + 4 + length) return;
    const lines = text
      .slice(head + 4)
      .trimEnd()
      .split('\n');
    text = '';
    const block = /"step":"new","block":(\d+)/.exec(lines[0] ?? '')?.[1];
    got(block === undefined ? -1 : Number(block));
    ask(`cursor=${/"cursor":"([^"]+)"/.exec(lines.at(-1) ?? '')?.[1]}`);
  });
  const ask = (query: string): void => void socket.write(toRequest(gateway, query));
  return { ask, close: () => void socket.destroy() };
}

const toRequest = ({ apiKey }: GatewayProcess, query: string): string =>
  `GET /ethereum/v1/${apiKey}/bundle-api/feed?${query}&wait=60 HTTP/1.1\r\nhost: bench\r\n\r\n`;

async function wakeWaiters(scope: Scope, place: Place, gateway: GatewayProcess, { lastBlock }: FilledIndex) {
  const first = lastBlock + 1;
  const latencies: number[] = [];
  let stagedAt = 0;
  let arrived = 0;
  let all: () => void = () => undefined;
  const got = (block: number): void => {
    if (block >= first + WARM_BLOCKS) latencies.push(performance.now() - stagedAt);
    arrived += 1;
    if (arrived === WAITERS) all();
  };
  const waiters = Array.from({ length: WAITERS }, () => openWaiter(scope, gateway, got));
  for (const { ask } of waiters) ask(`kinds=logs&from=${first}`);
  await waiting(gateway, WAITERS);
  const before = await metric(gateway, 'packhouse_feed_window_reads_total');
  for (let block = first; block < first + WARM_BLOCKS + BLOCKS; block += 1) {
    arrived = 0;
    const done = new Promise<void>((resolve) => {
      all = resolve;
    });
    stagedAt = performance.now();
    await stageBlock(place, block);
    await done;
    await waiting(gateway, WAITERS);
  }
  const windowReads =
    ((await metric(gateway, 'packhouse_feed_window_reads_total')) - before) / (WARM_BLOCKS + BLOCKS);
  for (const { close } of waiters) close();
  await waiting(gateway, 0);
  const sorted = latencies.sort((a, b) => a - b);
  return {
    p50Ms: median(sorted),
    p99Ms: atShare(sorted, 0.99),
    maxMs: sorted.at(-1) as number,
    steps: sorted.length,
    windowReads,
  };
}

async function stageBlock({ database }: Place, number: number): Promise<void> {
  const hashOf = (block: number): string => `0x${createHash('sha256').update(`${block}`).digest('hex')}`;
  const body = deflateRawSync(Buffer.from('[]'));
  const fragment = {
    firstBlock: number,
    lastBlock: number,
    body,
    byteLength: body.length,
    rawLength: 2,
    crc32: 1,
  };
  await database.network('ethereum').staging.stage({
    blocks: [
      {
        number,
        hash: hashOf(number),
        // The first follows the last bundles; of kinds that disagree, which only these have, blocks are compared first.
        parentHash: await parentOf(database, number, hashOf),
        timestamp: 1_700_000_000,
        transactionCount: 0,
        proofs: ['headerHash'],
      },
    ],
    kinds: [{ kind: 'logs', fragments: [fragment] }],
  });
}

async function parentOf(
  database: Place['database'],
  number: number,
  hashOf: (block: number) => string,
): Promise<string> {
  const bundle = await database.network('ethereum').bundles.covering('blocks', number - 1);
  return bundle?.lastHash ?? hashOf(number - 1);
}

/** Holds as many connections as fit, idle and then waiting, each in a gateway of its own. */
async function holdMany(scope: Scope, gateway: GatewayProcess, { lastBlock }: FilledIndex) {
  const hold = async (request: string, ready: () => Promise<void>): Promise<number> => {
    const before = await settledBytes(gateway);
    const sockets = await openAll(scope, gateway, MANY, request);
    await ready();
    const bytes = ((await settledBytes(gateway)) - before) / MANY;
    for (const socket of sockets) socket.destroy();
    return bytes;
  };
  // The first connections of a process make room that later ones use again: both are measured after such a first time.
  const idle = (): Promise<number> =>
    hold('GET /healthz HTTP/1.1\r\nhost: bench\r\n\r\n', async () => undefined);
  const first = await idle();
  await waiting(gateway, 0);
  const waiterBytes = await hold(toRequest(gateway, `kinds=logs&from=${lastBlock + 1_000_000}`), () =>
    waiting(gateway, MANY),
  );
  return { idleBytes: first, waiterBytes };
}

async function openAll(
  scope: Scope,
  gateway: GatewayProcess,
  count: number,
  request: string,
): Promise<Socket[]> {
  const { hostname, port } = new URL(gateway.url);
  const sockets: Socket[] = [];
  scope.defer(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.all(
      Array.from(
        { length: Math.min(100, count - opened) },
        () =>
          new Promise<void>((resolve, reject) => {
            const socket = connect({ host: hostname, port: Number(port) }, () => {
              socket.write(request);
              resolve();
            });
            socket.once('error', reject);
            socket.on('data', () => undefined);
            sockets.push(socket);
          }),
      ),
    );
  }
  return sockets;
}

/** Waits until so many feeds wait. */
async function waiting(gateway: GatewayProcess, count: number): Promise<void> {
  while ((await metric(gateway, 'packhouse_gateway_feeds')) !== count) await pause(20);
}

async function metric({ url, apiKey }: GatewayProcess, name: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${apiKey}` } });
  const values = [...(await answer.text()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

async function settledBytes({ pid }: GatewayProcess): Promise<number> {
  await pause(SETTLE_MS);
  return readProcess(pid)?.bytes ?? Number.NaN;
}

function cpuSeconds({ pid }: GatewayProcess): number {
  return readProcess(pid)?.cpuSeconds ?? Number.NaN;
}
