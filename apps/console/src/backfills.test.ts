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
const order = { network: 'main', from: 0, to: 999, kinds: ['logs'] };
/** The UTC day in so many days, as windows write it. */
const getDay = (days: number): string => {
  const day = new Date(on.context.clock.now() + days * 86_400_000).getUTCDay();
  return ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][day] as string;
};

test('a backfill is ordered, listed with its progress, changed and paused, and who did it is told', async () => {
  // Closed today, and still if the day ends meanwhile.
  const windows = [`${getDay(3)},${getDay(4)}`];
  const added = (
    await change('add', { ...order, windows, deadline: '2999-01-01', maxRequests: 2_000 })
  ).json();
  const { id } = added.range;
  expect(added).toMatchObject({
    range: {
      priority: 100,
      owner: 'default',
      windows: [`${windows} UTC`],
      deadline: '2999-01-01T00:00:00.000Z',
    },
    outlook: { deadline: { standing: 'unknown' } },
  });
  const other = (await change('add', { ...order, to: null })).json().range;
  expect(await read('backfills?limit=1')).toMatchObject({ rows: [{ id }], more: true });
  expect(await read(`backfills?limit=1&after=${id}`)).toMatchObject({
    rows: [{ id: other.id }],
    more: false,
  });

  expect((await change('set', { id, priority: 7 })).json()).toMatchObject({
    before: { priority: 100 },
    range: { priority: 7, windows: [`${windows} UTC`] },
  });
  expect((await change('state', { id, state: 'paused' })).json()).toMatchObject({ state: 'paused' });
  expect(await read('backfills?state=paused')).toMatchObject({ rows: [{ id }] });
  expect(await read(`backfills/progress?ids=${id},${other.id},999`)).toMatchObject([
    {
      backfill: { id },
      blocksLeft: 1_000,
      waits: [
        { reason: 'paused', message: expect.any(String), until: null },
        {
          reason: 'window-closed',
          message: expect.stringContaining('closed until'),
          until: expect.any(String),
        },
        { reason: 'no-ingester', until: null },
      ],
    },
    { backfill: { id: other.id }, state: 'waiting' },
  ]);
  const { history } = await read(`backfills/show?id=${id}`);
  expect(history.map(({ action }: { action: string }) => action)).toEqual(['pause', 'set', 'add']);
  expect(history[0].actor).toMatch(/^test \d+$/);
});

test('of two operators who change one backfill, the second one is told what changed meanwhile', async () => {
  const { id } = (await change('add', order)).json().range;
  const expected = { state: 'active', priority: 100, weight: 1, windows: [], deadline: null };
  expect((await change('set', { id, priority: 1, expected })).statusCode).toBe(200);
  const late = await change('state', { id, state: 'cancelled', expected });
  expect(late.statusCode).toBe(409);
  expect(late.json().error).toMatchObject({ code: 'CHANGED_MEANWHILE', data: { now: { priority: 1 } } });
  expect(await on.database.backfills.find(id)).toMatchObject({ state: 'active', priority: 1 });
  const [newest] = await on.database.changes.list({ subject: `backfill ${id}` });
  expect(newest).toMatchObject({ action: 'set' });
});

test.each([
  ['add', { ...order, to: -1 }, 400, 'INPUT_INVALID'],
  ['add', { ...order, from: 1_000 }, 400, 'RANGE_INVALID'],
  ['add', { ...order, kinds: ['uncles'] }, 400, 'INPUT_INVALID'],
  ['add', { ...order, windows: ['Funday'] }, 400, 'WINDOW_INVALID'],
  ['add', { ...order, deadline: '2020-01-01' }, 400, 'INPUT_INVALID'],
  ['add', { ...order, deadline: 'soon' }, 400, 'INPUT_INVALID'],
  ['add', { ...order, to: null, maxRequests: 5 }, 400, 'USAGE'],
  ['add', { ...order, network: 'nowhere' }, 404, 'NETWORK_UNKNOWN'],
  ['set', { id: 999_999, priority: 5 }, 404, 'BACKFILL_UNKNOWN'],
  ['state', { id: 1, state: 'destroyed' }, 400, 'INPUT_INVALID'],
])('%s %j is refused with %i %s', async (name, input, status, code) => {
  const answer = await change(name, input);
  expect(answer.json()).toMatchObject({ error: { code } });
  expect(answer.statusCode).toBe(status);
});

test('a quote needs the networks file, and an operator', async () => {
  const asked = 'backfills/quote?network=main&from=0&to=9&kinds=logs';
  expect(await read(asked)).toMatchObject({
    error: { code: 'NETWORK_UNKNOWN', hint: expect.stringContaining('NETWORKS_FILE') },
  });
  const viewer = await on.token('viewer');
  expect((await on.ask({ url: `/api/${asked}`, headers: viewer })).json().error.code).toBe('ROLE_TOO_LOW');
});

test('backfills are found by ID, block, owner and kind, and many are paused, cancelled and retried at once', async () => {
  const { quarantine } = on.database.network('main');
  const made: number[] = [];
  for (const from of [2_000, 3_000, 3_500]) {
    const added = await change('add', { ...order, from, to: from + 499, owner: 'risk' });
    made.push(added.json().range.id);
  }
  const [first, second, third] = made as [number, number, number];
  const find = async (search: string): Promise<unknown> => {
    const { rows, matching } = await read(`backfills?search=${encodeURIComponent(search)}`);
    return [rows.map(({ id }: { id: number }) => id), matching];
  };
  expect(await find('risk 3,200')).toEqual([[second], 1]);
  expect(await find('RISK main LOGS')).toEqual([made, 3]);
  expect(await find('risk traces')).toEqual([[], 0]);
  expect((await read(`backfills?search=risk&limit=1&after=${first}`)).rows).toMatchObject([{ id: second }]);

  await change('state', { id: third, state: 'paused' });
  const paused = await change('states', { ids: [first, third, 999_999], state: 'paused' });
  expect(paused.json()).toEqual([
    { id: first, refused: null },
    { id: third, refused: 'it is paused already' },
    { id: 999_999, refused: 'unknown' },
  ]);
  expect(await on.database.changes.list({ subject: `backfill ${first}`, limit: 1 })).toMatchObject([
    { action: 'pause' },
  ]);
  await quarantine.put({
    firstBlock: 3_100,
    kinds: ['logs'],
    cause: 'NODE_TIMEOUT',
    message: 'x',
    upstream: null,
    payloadDigest: null,
    tried: [],
  });
  expect((await change('retry', { ids: [first, second] })).json()).toEqual([
    { id: first, retried: 0 },
    { id: second, retried: 1 },
  ]);
  const viewer = await on.token('viewer');
  expect((await change('states', { ids: [first], state: 'active' }, viewer)).json().error.code).toBe(
    'ROLE_TOO_LOW',
  );
  expect((await change('states', { ids: [], state: 'active' })).statusCode).toBe(400);
});
