import { beforeAll, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

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
  await on.done('backfill', 'pause', id, '--reason', 'disk replacement');
  const shown = (await on.done('backfill', 'show', id)).out;
  // Since when differs in each run.
  const out = shown.replaceAll(/since \d{4}-[^ :]+:\d\d:\d\d\.\d{3}Z/g, 'since T');
  expect(out).toContain(`Backfill ${id}: main 0 to 999, logs.
Terms: priority 7, at most 2,000 requests.
State: paused, not fetching now.
Waiting: Paused by bob since T (disk replacement). Run \`packhouse backfill resume\`.
Waiting: No ingester of this network takes jobs since T: none runs, or all are draining. See \`packhouse workers list\`.
Rate: unknown (less than a minute of work in the last day).
ETA: unknown; 1,000 finalized blocks to fetch.
Requests: 0 of 2,000.

KIND  PUBLISHED  STAGED  TO FETCH  QUARANTINED  NOT FINALIZED
logs  0          0       1,000     0            0
`);
  const history = out.split('\n').slice(-5, -1);
  expect(history[0]).toMatch(/^AT +ACTOR +ACTION +CHANGE$/);
  expect(history[1]).toMatch(/Z +bob +pause +state active -> paused, reason none -> disk replacement$/);
  expect(history[2]).toMatch(/Z +ada +set +priority 100 -> 7$/);
  expect(history[3]).toMatch(/Z +ada +add +-$/);
  expect(jsonLines(await on.done('backfill', 'show', id, '--json'))).toMatchObject([
    {
      backfill: { id: Number(id), state: 'paused' },
      waits: [
        { reason: 'paused', since: expect.any(String), until: null, message: expect.any(String) },
        { reason: 'no-ingester' },
      ],
      history: [{ actor: 'bob', action: 'pause' }, { actor: 'ada' }, { actor: 'ada', before: null }],
    },
  ]);
  expect(await on.refused(64, 'backfill', 'show', '999999')).toMatch(
    /Unknown backfill 999999.*\[BACKFILL_UNKNOWN\]$/,
  );
});

test('a deadline is judged when it is given', async () => {
  const id = await add();
  const { out } = await on.done('backfill', 'set', id, '--deadline', '2999-12-24');
  expect(out).toMatch(
    /deadline 2999-12-25T00:00:00.000Z needs 3.\de-8 blocks\/s; the current rate is unknown\.$/m,
  );
  await on.database.backfills.change(Number(id), { deadline: new Date(1_000) });
  expect((await on.done('status')).out).toMatch(
    new RegExp(`^Backfill ${id}: deadline 1970-01-01T00:00:01.000Z was missed\\.$`, 'm'),
  );
  expect(jsonLines(await on.done('status', '--json'))).toMatchObject([
    { late: [{ backfill: { id: Number(id) }, deadline: { standing: 'missed' } }] },
  ]);
  await on.done('backfill', 'set', id, '--deadline', '2999-12-24');
  const json = await on.packhouse('backfill', 'set', id, '--weight', '2', '--json');
  expect(json.err).toMatch(/^Backfill \d+: deadline /);
  expect(jsonLines(json)).toMatchObject([{ weight: 2 }]);
});
