import { getHash, makeSecret } from '@packhouse/operations';
import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const MINUTE_MS = 60_000;
let minute: number;
let viewer: { authorization: string };
const keys: { id: number; prefix: string }[] = [];

beforeAll(async () => {
  viewer = await on.token('viewer');
  await on.database.networks.register({ id: 'main', chainId: 1 });
  for (const n of [1, 2]) {
    const { row } = await on.database.keys.create({ application: `app ${n}`, network: null, plan: 'free' });
    keys.push(row);
  }
  const lock = await on.database.tryLock('history');
  const writer = await on.database.history.writer();
  minute = Math.floor(Date.now() / MINUTE_MS) - 10;
  for (const at of [0, 1, 4]) {
    await writer.write(
      {
        minute: minute + at,
        installation: new Array<number>(18).fill(at),
        named: {
          network: new Map([['main', [at, 1, 2, 3, 4, 5]]]),
          node: new Map([['["main","a <b>"]', [10, 1, 10, 250, 0]]]),
          provider: new Map(),
          key: new Map(at === 1 ? [[String(keys[0]?.id), [60, 1, 2, 3, 4]]] : []),
        },
      },
      lock!.fence,
    );
  }
  await lock!.release();
  await on.database.network('main').alarms.raise({ name: 'STUCK', message: '<img src=x>' });
});

const get = async (query: string, headers: Record<string, string> = viewer) => {
  const answer = await on.ask({ url: `/api/${query}`, headers });
  return { status: answer.statusCode, body: answer.json() };
};
/** The figure by minute since the first sample. */
const byMinute = (body: { from: string; figures: Record<string, (number | null)[]> }, figure: string) => {
  const skipped = minute - Date.parse(body.from) / MINUTE_MS;
  return body.figures[figure]?.slice(skipped, skipped + 5);
};

test('curves have a value a minute, a gap where nothing was sampled, and what happened', async () => {
  const { body } = await get('history?last=1h');
  expect(body).toMatchObject({ stepSeconds: 60, unit: 'minute', kept: 'own', marksCut: false });
  expect(byMinute(body, 'blocks')).toEqual([0, 1, null, null, 4]);
  expect(body.marks).toMatchObject([{ kind: 'alarm-begin', network: 'main', message: '<img src=x>' }]);
  expect(byMinute((await get('history?network=main&last=1h')).body, 'headLag')).toEqual([
    2,
    2,
    null,
    null,
    2,
  ]);
  const node = await get(`history?network=main&upstream=${encodeURIComponent('a <b>')}&last=1h`);
  expect(byMinute(node.body, 'latencyMs')).toEqual([25, 25, null, null, 25]);
  expect(node.body.figures.busyMs).toBeUndefined();
  // A key that did nothing in a sampled minute did nothing; it is not unknown.
  const key = await get(`history?key=${keys[0]?.prefix}&last=1h`);
  expect(byMinute(key.body, 'calls')).toEqual([0, 60, null, null, 0]);
  expect((await get('history?provider=nobody&last=1h')).body).toMatchObject({ kept: 'none' });
  const year = await get('history?last=365d');
  expect(year.body).toMatchObject({ unit: 'hour', stepSeconds: 43_200 });
  expect(year.body.figures.blocks.length).toBeLessThan(1_000);
  const rows = (await get('history/sparklines?of=node')).body.rows;
  expect(rows).toMatchObject([{ network: 'main', upstream: 'a <b>' }]);
  expect(rows[0].points.filter((value: number | null) => value !== null).length).toBeGreaterThan(0);
});

test('an owner sees the curves of its own key, and nothing else', async () => {
  const secret = makeSecret(await on.database.operators.seal());
  const kept = { kind: 'session', operatorId: null, keyId: keys[0]?.id ?? 0, role: 'owner' } as const;
  await on.database.operators.keep({ sha256: getHash(secret), ...kept, forMs: 60_000 });
  const owner = { cookie: `packhouse_session=${secret}` };
  const own = await get('own/history?last=1h', owner);
  expect(byMinute(own.body, 'calls')).toEqual([0, 60, null, null, 0]);
  expect(own.body.marks).toEqual([]);
  expect((await get(`own/history?last=1h&key=${keys[1]?.prefix}`, owner)).body.figures).toEqual(
    own.body.figures,
  );
  for (const query of ['history', `history?key=${keys[0]?.prefix}`, 'history/sparklines?of=network']) {
    expect((await get(query, owner)).status, query).toBe(403);
    expect((await get(query, {})).status, query).toBe(401);
  }
  expect((await get('own/history')).status).toBe(404);
});

test('a range that is reversed or longer than a year, or two things at once, is refused by name', async () => {
  const refused = async (query: string) => (await get(`history?${query}`)).body.error;
  expect(await refused('from=2026-11-02&until=2026-11-01')).toMatchObject({
    code: 'INPUT_INVALID',
    data: { fields: [{ name: 'from' }] },
  });
  expect(await refused('from=1999-01-01&until=2026-11-01')).toMatchObject({ code: 'INPUT_INVALID' });
  expect(await refused('last=5y')).toMatchObject({ data: { fields: [{ name: 'last' }] } });
  expect(await refused('network=main&provider=p')).toMatchObject({ data: { fields: [{ name: 'network' }] } });
  expect(await refused('upstream=a')).toMatchObject({ data: { fields: [{ name: 'upstream' }] } });
  expect(await refused('key=ph_99999999')).toMatchObject({ code: 'KEY_UNKNOWN' });
});
