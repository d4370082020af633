import { beforeAll, expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  on.env.PACKHOUSE_OPERATOR = 'ada';
  await on.database.networks.register({ id: 'main', chainId: 1 });
  const hash = `0x${'0'.repeat(64)}`;
  await on.database.network('main').head.set({ number: 5_000, hash, finalized: 4_000 });
});
const add = async (...options: string[]): Promise<string> => {
  const range = ['--network', 'main', '--from', '0', '--to', '999', '--kinds', 'logs'];
  const [row] = jsonLines(await on.packhouse('backfill', 'add', ...range, '--json', ...options));
  return String(row?.id);
};

test('a backfill is shown with what it waits for and who changed it', async () => {
  const id = await add('--max-requests', '2k');
  await on.done('backfill', 'set', id, '--priority', '7');
  on.env.PACKHOUSE_OPERATOR = 'bob';
  await on.done('backfill', 'pause', id);
  const { out } = await on.done('backfill', 'show', id);
  expect(out).toContain(`Backfill ${id}: main 0 to 999, logs.
Terms: priority 7, 2,000 requests at most.
It is paused; no block of it is fetched now.
Waits: it is paused; \`packhouse backfill resume\` continues it.
Waits: no ingester of the network was seen in the last 15 s, or all drain.
Rate: unknown, as less than a minute of work was seen in the last day.
Forecast: unknown; 1,000 final blocks to fetch.
Requests to nodes: 0 of 2,000.

KIND  PUBLISHED  STAGED  TO FETCH  QUARANTINED  NOT FINAL
logs  0          0       1,000     0            0
`);
  const history = out.split('\n').slice(-5, -1);
  expect(history[0]).toMatch(/^AT +WHO +ACTION +CHANGE$/);
  expect(history[1]).toMatch(/Z +bob +pause +state active -> paused$/);
  expect(history[2]).toMatch(/Z +ada +set +priority 100 -> 7$/);
  expect(history[3]).toMatch(/Z +ada +add +-$/);
  expect(jsonLines(await on.done('backfill', 'show', id, '--json'))).toMatchObject([
    {
      range: { id: Number(id), state: 'paused' },
      waits: [{ reason: 'paused', until: null, message: expect.any(String) }, { reason: 'no-ingester' }],
      history: [{ who: 'bob', action: 'pause' }, { who: 'ada' }, { who: 'ada', before: null }],
    },
  ]);
  expect(await on.refused(64, 'backfill', 'show', '999999')).toMatch(
    /no backfill 999999.*\[BACKFILL_UNKNOWN\]$/,
  );
});

test('a deadline is judged when it is given', async () => {
  const id = await add();
  const { out } = await on.done('backfill', 'set', id, '--deadline', '2999-12-24');
  expect(out).toMatch(
    /its deadline 2999-12-25T00:00:00.000Z takes 3.\de-8 blocks\/s; today's rate is unknown\.$/m,
  );
  await on.database.wanted.change(Number(id), { deadline: new Date(1_000) });
  expect((await on.done('status')).out).toMatch(
    new RegExp(`^Backfill ${id}: its deadline 1970-01-01T00:00:01.000Z is missed\\.$`, 'm'),
  );
  expect(jsonLines(await on.done('status', '--json'))).toMatchObject([
    { late: [{ range: { id: Number(id) }, deadline: { standing: 'missed' } }] },
  ]);
  await on.done('backfill', 'set', id, '--deadline', '2999-12-24');
  const json = await on.packhouse('backfill', 'set', id, '--weight', '2', '--json');
  expect(json.err).toMatch(/^Backfill \d+: its deadline /);
  expect(jsonLines(json)).toMatchObject([{ weight: 2 }]);
});
