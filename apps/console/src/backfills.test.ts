import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const hash = `0x${'0'.repeat(64)}`;
let operator: { authorization: string };
beforeAll(async () => {
  await on.database.networks.register({ id: 'main', chainId: 1 });
  await on.database.network('main').head.set({ number: 5_000, hash, finalized: 4_000 });
  operator = await on.token('operator');
});

const read = async (name: string) => (await on.ask({ url: `/api/${name}`, headers: operator })).json();
const change = (name: string, payload: object, headers = operator) =>
  on.ask({ method: 'POST', url: `/api/backfills/${name}`, payload, headers });
const order = { network: 'main', start: 0, end: 999, kinds: ['logs'] };

test('a backfill is ordered, listed with its progress, changed and steered, and who did it is told', async () => {
  const windows = ['Sat,Sun'];
  const added = (
    await change('add', { ...order, windows, deadline: '2999-01-01', maxRequests: 2_000 })
  ).json();
  const { id } = added.range;
  expect(added).toMatchObject({
    range: {
      priority: 100,
      owner: 'default',
      windows: ['Sat,Sun UTC'],
      deadline: '2999-01-01T00:00:00.000Z',
    },
    outlook: { deadline: { standing: 'unknown' } },
  });
  const other = (await change('add', { ...order, end: null })).json().range;
  expect(await read('backfills?limit=1')).toMatchObject({ rows: [{ id }], more: true });
  expect(await read(`backfills?limit=1&after=${id}`)).toMatchObject({
    rows: [{ id: other.id }],
    more: false,
  });

  expect((await change('set', { id, priority: 7 })).json()).toMatchObject({
    before: { priority: 100 },
    range: { priority: 7, windows: ['Sat,Sun UTC'] },
  });
  expect((await change('steer', { id, action: 'pause' })).json()).toMatchObject({ state: 'paused' });
  expect(await read('backfills?state=paused')).toMatchObject({ rows: [{ id }] });
  expect(await read(`backfills/progress?ids=${id},${other.id},999`)).toMatchObject([
    { range: { id }, blocksLeft: 1_000, waits: [{ reason: 'paused', message: expect.any(String) }, {}] },
    { range: { id: other.id }, state: 'waiting' },
  ]);
  const { history } = await read(`backfills/show?id=${id}`);
  expect(history.map(({ action }: { action: string }) => action)).toEqual(['pause', 'set', 'add']);
  expect(history[0].who).toMatch(/^test \d+$/);
});

test('of two operators who change one backfill, the second one is told what changed meanwhile', async () => {
  const { id } = (await change('add', order)).json().range;
  const expected = { state: 'active', priority: 100, weight: 1, windows: [], deadline: null };
  expect((await change('set', { id, priority: 1, expected })).statusCode).toBe(200);
  const late = await change('steer', { id, action: 'cancel', expected });
  expect(late.statusCode).toBe(409);
  expect(late.json().error).toMatchObject({ code: 'CHANGED_MEANWHILE', data: { now: { priority: 1 } } });
  expect(await on.database.wanted.find(id)).toMatchObject({ state: 'active', priority: 1 });
  const [newest] = await on.database.changes.list({ subject: `backfill ${id}` });
  expect(newest).toMatchObject({ action: 'set' });
});

test.each([
  ['add', { ...order, end: -1 }, 400, 'INPUT_INVALID'],
  ['add', { ...order, start: 1_000 }, 400, 'RANGE_INVALID'],
  ['add', { ...order, kinds: ['uncles'] }, 400, 'INPUT_INVALID'],
  ['add', { ...order, windows: ['Funday'] }, 400, 'WINDOW_INVALID'],
  ['add', { ...order, deadline: '2020-01-01' }, 400, 'INPUT_INVALID'],
  ['add', { ...order, deadline: 'soon' }, 400, 'INPUT_INVALID'],
  ['add', { ...order, end: null, maxRequests: 5 }, 400, 'USAGE'],
  ['add', { ...order, network: 'nowhere' }, 404, 'NETWORK_UNKNOWN'],
  ['set', { id: 999_999, priority: 5 }, 404, 'BACKFILL_UNKNOWN'],
  ['steer', { id: 1, action: 'destroy' }, 400, 'INPUT_INVALID'],
])('%s %j is refused with %i %s', async (name, input, status, code) => {
  const answer = await change(name, input);
  expect(answer.json()).toMatchObject({ error: { code } });
  expect(answer.statusCode).toBe(status);
});

test('a quote needs the networks file, and an operator', async () => {
  const asked = 'backfills/quote?network=main&start=0&end=9&kinds=logs';
  expect(await read(asked)).toMatchObject({
    error: { code: 'NETWORK_UNKNOWN', hint: expect.stringContaining('NETWORKS_FILE') },
  });
  const viewer = await on.token('viewer');
  expect((await on.ask({ url: `/api/${asked}`, headers: viewer })).json().error.code).toBe('ROLE_TOO_LOW');
});
