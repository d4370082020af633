import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { processTree, startService, withScope } from '@packhouse/rig';
import { startGateway } from './gateway-process.js';
import type { BenchOptions } from './options.js';
import { openPlace, type Place } from './place.js';
import type { BenchOutcome } from './result.js';

/** Networks of which nothing is requested, one of them alone first. */
const SIDES = [1, 128] as const;
/** Until the start and the first checks are over. */
const SETTLE_MS = 45_000;
const MEASURE_MS = 60_000;
const MAX_CALLS = 30;
const MAX_CORES = 0.3;
const PROGRAMS = ['ingester', 'packer', 'gateway', 'postgres'] as const;

/** What an installation costs that has nothing to do: one ingester, one packer, one gateway, a node per network. */
export async function benchIdle({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const networks of SIDES) {
    say(`  ${networks} idle networks …`);
    outcomes.push(...(await withScope((scope) => measure(scope, networks))));
  }
  return outcomes;
}

async function measure(scope: Scope, networks: number): Promise<BenchOutcome[]> {
  const place = await openPlace(scope, { max_connections: '200' });
  const blocks = generateChain({ length: 8, txsPerBlock: 1, startNumber: 0 });
  const nodes = await Promise.all(Array.from({ length: networks }, () => createReplayNode({ blocks })));
  scope.defer(async () => void (await Promise.all(nodes.map((node) => node.close()))));
  await start(scope, place, nodes);
  await sleep(SETTLE_MS);
  const before = read(nodes);
  await sleep(MEASURE_MS);
  const after = read(nodes);
  const seconds = MEASURE_MS / 1_000;
  const calls = ((after.calls - before.calls) / networks / seconds) * 60;
  const used = PROGRAMS.map((name) => [name, (after.cpu[name] - before.cpu[name]) / seconds] as const);
  const cores = used.reduce((sum, [, each]) => sum + each, 0);
  const name = networks === 1 ? 'one idle network' : `${networks} idle networks`;
  const data = Object.fromEntries(used);
  return [
    {
      name: `${name}: calls to its node`,
      value: Math.round(calls * 10) / 10,
      unit: 'per minute',
      target: `at most ${MAX_CALLS}`,
      met: calls <= MAX_CALLS,
    },
    {
      name: `${name}: CPU of all programs`,
      value: Math.round(cores * 1_000) / 1_000,
      unit: 'cores',
      target: `at most ${MAX_CORES}`,
      met: cores <= MAX_CORES,
      note: used.map(([program, each]) => `${program} ${each.toFixed(3)}`).join(', '),
      data,
    },
  ];
}

async function start(scope: Scope, place: Place, nodes: readonly ReplayNode[]): Promise<void> {
  const networks = nodes.map(({ url }, i) => {
    return { id: `network-${i}`, family: 'evm', chainId: 1, upstreams: [{ name: 'node', url }] };
  });
  const networksFile = JSON.stringify({ networks });
  const objects = path.join(place.directory, 'objects');
  const file = path.join(place.directory, 'networks.json');
  await writeFile(file, networksFile);
  const env = {
    DATABASE_URL: place.url,
    NETWORKS_FILE: file,
    OBJECT_STORE: objects,
    SIGNING_KEY_FILE: path.join(place.directory, 'signing-key.pem'),
    LOG_LEVEL: 'error',
  };
  for (const app of ['ingester', 'packer'] as const) startService(app, env, { scope });
  await startGateway(scope, place, { networksFile, objects });
}

function read(nodes: readonly ReplayNode[]) {
  const cpu = { ingester: 0, packer: 0, gateway: 0, postgres: 0 };
  for (const { command, cpuSeconds, endedSeconds } of processTree(process.pid)) {
    const program = PROGRAMS.find((name) => command.includes(name));
    if (program !== undefined) cpu[program] += cpuSeconds + endedSeconds;
  }
  return { calls: nodes.reduce((sum, node) => sum + node.stats().calls, 0), cpu };
}
