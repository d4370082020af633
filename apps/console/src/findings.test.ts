import { randomUUID } from 'node:crypto';
import type { NodeReport } from '@packhouse/database';
import { toDay } from '@packhouse/runtime';
import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const REPORT: NodeReport = {
  state: 'ok',
  client: null,
  head: 99,
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
let viewer: { authorization: string };

const read = async (name: string) => (await on.ask({ url: `/api/${name}`, headers: { ...viewer } })).json();
const report = (network: string, upstream: string, more: Partial<NodeReport> = {}) => {
  return { network, upstream, provider: upstream, report: { ...REPORT, ...more } };
};

beforeAll(async () => {
  const { database } = on;
  viewer = await on.token('viewer');
  for (const [chainId, id] of ['main', 'side', 'calm'].entries()) {
    await database.networks.register({ id, chainId });
  }
  const { quarantine, backfills, alarms } = database.network('main');
  const row = { kinds: ['logs' as const], upstream: 'liar', payloadDigest: null };
  const differs = { field: 'receiptsRoot', expected: '0x01', got: '0x02' };
  for (const firstBlock of [40, 45]) {
    const tried = [
      { upstream: 'liar', cause: 'PROOF_FAILED', message: 'It differs.', payloadDigest: null, differs },
      { upstream: 'slow', cause: 'NODE_TIMEOUT', message: 'Late.', payloadDigest: null },
    ];
    await quarantine.put({ ...row, firstBlock, cause: 'PROOF_FAILED', message: 'It differs.', tried });
  }
  await quarantine.put({ ...row, firstBlock: 60, cause: 'NODE_METHOD_MISSING', message: 'x', tried: [] });
  const { id } = await backfills.add({ kinds: ['logs'], from: 10, to: null, priority: 1 });
  await database.backfills.change(
    id,
    { state: 'paused' },
    { actor: 'olga', action: 'pause', reason: 'the disk is full' },
  );
  await database.network('side').backfills.add({ kinds: ['logs'], from: 10, to: null, priority: 1 });
  await alarms.raise({ name: 'NODES_DISAGREE', message: 'They disagree.' });
  await alarms.raise({ name: 'NODE_ANSWER_FALSE', message: 'x', data: { upstreams: ['liar', 'b'] } });
  const side = database.network('side').alarms;
  await side.raise({ name: 'NODES_SILENT', message: 'said below' });
  await side.raise({ name: 'STANDSTILL', message: 'said below' });
  for (const { alarms: each } of [database.network('main'), database.network('side')])
    await each.raise({ name: 'NOTIFICATIONS_FAILING', message: 'Channels accept nothing.' });
  const failing = { state: 'resting', failingForMs: 120_000, lastError: 'refused' } as const;
  await database.nodes.report({ process: randomUUID(), role: 'gateway', host: 'here' }, [
    report('main', 'liar'),
    report('side', 'a', failing),
    report('side', 'b', { state: 'cordoned' }),
    report('calm', 'c'),
  ]);
});

test('what stands still or is wrong is listed with its cause, since when and until when, the worst first', async () => {
  expect(await read('findings')).toMatchObject([
    {
      kind: 'nodes-silent',
      network: 'side',
      upstreams: ['a'],
      detail: 'refused',
      since: expect.any(String),
      alarms: ['STANDSTILL', 'NODES_SILENT'],
    },
    { kind: 'no-ingester', network: 'side', since: expect.any(String), alarms: [] },
    {
      kind: 'wrong-answer',
      network: 'main',
      message: 'liar sent a wrong response for block 40 and 1 more.',
      detail: 'It differs.',
      block: 40,
      alarms: ['NODE_ANSWER_FALSE'],
      since: expect.any(String),
      until: expect.any(String),
    },
    { kind: 'alarm', alarms: ['NOTIFICATIONS_FAILING'], others: 1, since: expect.any(String) },
    { kind: 'alarm', network: 'main', alarms: ['NODES_DISAGREE'], detail: null },
    {
      kind: 'quarantine',
      message: '1 block is in quarantine with NODE_METHOD_MISSING.',
      detail: expect.stringMatching(/^No upstream serves a method/),
      since: expect.any(String),
      until: expect.any(String),
    },
    {
      kind: 'paused',
      message: expect.stringMatching(/^backfill \d+ is paused by olga\.$/),
      detail: 'the disk is full',
      since: expect.any(String),
    },
  ]);
  expect(await read('findings?network=calm')).toEqual([]);
});

test('a key in use that expires within a week is named, and more than ten are summed', async () => {
  const { keys, usage } = on.database;
  const day = toDay(on.context.clock.now());
  const used = { day, network: 'main', method: 'eth_call', requests: 1, units: 1, errors: 0, bytes: 1 };
  const add = async (hours: number) => {
    const expiresAt = new Date(Date.now() + hours * 3_600_000 + 60_000);
    const { row } = await keys.create({ application: 'shop', network: null, plan: 'free', expiresAt });
    await usage.add([{ ...used, keyId: row.id }]);
    return row.prefix;
  };
  const find = async () =>
    (await read('findings')).filter(({ kind }: { kind: string }) => kind === 'key-expires');
  const [later, sooner] = [await add(50), await add(5)];
  await expect.poll(find).toMatchObject([
    {
      key: sooner,
      message: `key ${sooner} of shop is in use and expires in 5 h.`,
      until: expect.any(String),
    },
    { key: later, message: `key ${later} of shop is in use and expires in 2 days.` },
  ]);
  expect(await read('findings?network=calm')).toEqual([]);
  for (let key = 0; key < 9; key++) await add(100);
  await expect.poll(async () => (await find()).length, { timeout: 10_000 }).toBe(11);
  expect((await find()).at(-1)).toMatchObject({ message: 'more keys in use expire soon.' });
});

test('a network of which all ingesters drain says so, since when the last one was told', async () => {
  const { database } = on;
  await database.networks.register({ id: 'drained', chainId: 9 });
  await database.network('drained').backfills.add({ kinds: ['logs'], from: 0, to: 9, priority: 1 });
  const ids = [randomUUID(), randomUUID()];
  const beat = (id: string) =>
    database.workers.heartbeat({
      id,
      role: 'ingester',
      host: 'here',
      pid: 1,
      networks: ['drained'],
      networksDigest: '',
      networksProblem: null,
      slots: 1,
      jobs: [],
    });
  const find = async () => {
    for (const id of ids) await beat(id);
    return read('findings?network=drained');
  };
  await expect.poll(find, { timeout: 30_000 }).toEqual([]);
  for (const id of ids) await database.workers.setDraining(id, true);
  const since = (await database.workers.list()).find(({ id }) => id === ids[1])?.drainingSince?.toISOString();
  await expect
    .poll(find, { timeout: 30_000 })
    .toMatchObject([
      { kind: 'no-ingester', message: expect.stringContaining('all its ingesters are draining'), since },
    ]);
});

test('a node says since when it only fails, and the blocks of which it sent something wrong', async () => {
  expect(await read('nodes')).toMatchObject([
    { upstream: 'c', silentSince: null, failedBlocks: [] },
    { upstream: 'liar', silentSince: null, failedBlocks: [40, 45] },
    { upstream: 'a', silentSince: expect.any(String), failedBlocks: [] },
    { upstream: 'b', silentSince: null },
  ]);
});

test('a quarantined block has the field that differs, as demanded and as sent', async () => {
  const { tried } = await read('quarantine/show?network=main&block=40');
  expect(tried[0].differs).toEqual({ field: 'receiptsRoot', expected: '0x01', got: '0x02' });
  expect(tried[1].differs).toBeUndefined();
});

test('of many paused backfills the number is told', async () => {
  const { database } = on;
  const { backfills } = database.network('calm');
  for (let n = 0; n < 12; n += 1) {
    const { id } = await backfills.add({ kinds: ['logs'], from: n * 10, to: n * 10 + 9, priority: 1 });
    await database.backfills.change(id, { state: 'paused' }, { actor: 'olga', action: 'pause' });
  }
  // An answer is shared for two seconds.
  const paused = async () =>
    ((await read('findings?network=calm')) as { message: string }[]).map(({ message }) => message);
  await expect.poll(async () => (await paused()).length, { timeout: 30_000 }).toBe(11);
  expect((await paused()).at(-1)).toBe('2 more backfills are paused.');
});
