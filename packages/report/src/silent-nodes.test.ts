import { randomUUID } from 'node:crypto';
import type { NodeReport } from '@packhouse/database';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { getBackfillProgress } from './backfill-progress.js';
import { checkSilence, findSilences } from './silent-nodes.js';

let world: World;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: [...generateChain({ length: 2, seed: 1 })] }]);
});
afterEach(() => world.close());

const REPORT: NodeReport = {
  state: 'ok',
  client: null,
  head: null,
  inFlight: 0,
  maxInFlight: 1,
  invalidResponses: 0,
  leftOut: null,
  throttledBy: null,
  methods: [],
  errors: [],
  lastError: null,
  failingForMs: null,
  capabilities: [],
  missingCapabilities: [],
};
const PROCESSES = [randomUUID(), randomUUID()] as const;

/** What a process says of its nodes: for how many milliseconds each has only failed. */
const say = (process: string, nodes: Record<string, Partial<NodeReport>>) =>
  world.database.nodes.report(
    { process, role: 'ingester', host: 'here' },
    Object.entries(nodes).map(([upstream, report]) => {
      return { network: 'main', upstream, provider: upstream, report: { ...REPORT, ...report } };
    }),
  );
const silent = (failingForMs: number) => ({ state: 'resting', failingForMs, lastError: 'refused' }) as const;
const find = async () => (await findSilences(world.database, ['main'])).get('main') ?? null;
const check = async () => checkSilence(world, 'main', await world.database.network('main').alarms.list());

test('a network is silent if each node that any process calls only fails, since the last of them did', async () => {
  expect(await find()).toBeNull();
  await say(PROCESSES[0], { a: silent(600_000), b: silent(90_000), c: { state: 'cordoned' } });
  await say(PROCESSES[1], { a: {} });
  expect(await find()).toBeNull();
  await say(PROCESSES[1], { a: silent(120_000) });
  const found = await find();
  expect(found).toMatchObject({ forMs: 90_000, nodes: ['a', 'b'], lastError: 'refused' });
  expect(Math.abs(Date.now() - 90_000 - Number(found?.since))).toBeLessThan(60_000);
});

test('a backfill says since when no node has answered, and stands still', async () => {
  const { database } = world;
  await world.want(0, 9);
  await world.noteHead();
  await say(PROCESSES[0], { a: silent(90_000) });
  const [range] = await database.backfills.list();
  const { waits, forecast } = await getBackfillProgress({ database }, range!);
  expect(waits[0]).toMatchObject({ reason: 'nodes-silent', since: expect.any(Date) });
  expect(forecast).toBeNull();
});

test('the alarm is raised after a minute; an answer clears it and has what failed tried at once', async () => {
  const { alarms, quarantine } = world.database.network('main');
  await world.want(0, 9);
  const row = { kinds: ['logs' as const], message: 'x', upstream: null, payloadDigest: null, tried: [] };
  await quarantine.put({ ...row, firstBlock: 1, lastBlock: 1, cause: 'NODE_UNREACHABLE' });
  await quarantine.put({ ...row, firstBlock: 3, lastBlock: 3, cause: 'PROOF_FAILED' });
  const due = async () => (await quarantine.list({ limit: 9 })).map((each) => [each.cause, each.due]);
  await say(PROCESSES[0], { a: silent(59_000) });
  await check();
  expect(await alarms.list()).toEqual([]);
  await say(PROCESSES[0], { a: silent(60_000) });
  await check();
  expect(await alarms.list()).toMatchObject([
    {
      name: 'NODES_SILENT',
      message: expect.stringMatching(/^No node of main has answered since 20.* \(a\): refused\./),
    },
  ]);
  const before = await due();
  await say(PROCESSES[0], { a: {} });
  await check();
  expect(await alarms.list()).toEqual([]);
  expect(before).toEqual([
    ['NODE_UNREACHABLE', false],
    ['PROOF_FAILED', false],
  ]);
  expect(await due()).toEqual([
    ['NODE_UNREACHABLE', true],
    ['PROOF_FAILED', false],
  ]);
});
