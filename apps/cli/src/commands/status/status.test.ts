import { createHash } from 'node:crypto';
import { KINDS, type Kind } from '@packhouse/chain';
import { createQueues } from '@packhouse/queue';
import { beforeAll, describe, expect, test } from 'vitest';
import { jsonLines, type Outcome, run } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
const hash = (number: number) => `0x${createHash('sha256').update(String(number)).digest('hex')}`;
const packhouse = (...args: string[]): Promise<Outcome> => on.packhouse('status', ...args);

async function publish(kind: Kind, firstBlock: number, lastBlock: number): Promise<void> {
  await on.database.network('main').bundles.publish({
    kind,
    firstBlock,
    lastBlock,
    objectKey: `main/${kind}/${firstBlock}-${lastBlock}.json.gz`,
    byteLength: 100,
    rawLength: 1_000,
    sha256: hash(firstBlock).slice(2),
    proofs: [],
    formatVersion: 1,
    firstHash: hash(firstBlock),
    firstParentHash: hash(firstBlock - 1),
    lastHash: hash(lastBlock),
    fragments: [{ firstBlock: firstBlock, lastBlock: lastBlock, byteLength: 10, rawLength: 20, crc32: 1 }],
  });
}

beforeAll(async () => {
  const { context, database } = on;
  await database.networks.register({ id: 'main', chainId: 1 });
  await database.networks.register({ id: 'quiet', chainId: 2 });
  await database.network('main').head.set({ number: 99, hash: hash(99), finalized: 79 });
  await database.network('quiet').head.set({ number: 7, hash: hash(7), finalized: 5 });
  await database.network('main').backfills.add({
    kinds: ['logs', 'blocks'],
    from: 10,
    to: null,
    priority: 1,
  });
  const paused = await database
    .network('main')
    .backfills.add({ kinds: ['logs', 'blocks'] as Kind[], from: 0, to: 4, priority: 1 });
  await database.backfills.change(paused.id, { state: 'cancelled' });
  for (const kind of ['blocks', 'logs'] as const) await publish(kind, 10, 19);
  await publish('blocks', 20, 29);
  await database.network('main').quarantine.put({
    firstBlock: 40,
    kinds: ['logs'],
    cause: 'PROOF_FAILED',
    message: 'x',
    upstream: null,
    payloadDigest: null,
  });
  const queues = await createQueues({ databaseUrl: on.databaseUrl, context });
  await queues.add('ingest', [
    {
      id: 'main.60.69.9',
      payload: { network: 'main', firstBlock: 60, lastBlock: 69, kinds: ['blocks', 'logs'] },
      priority: 1,
    },
  ]);
  await queues.close();
});
describe('status --holes', () => {
  test('shows exact ranges in the order of the blocks, kinds that agree on one line', async () => {
    const { code, out, err } = await packhouse('--holes', '--network', 'main');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [first, heading, ...lines] = out.trim().split('\n');
    expect(first).toBe(
      'main: head 99, finalized 79, complete through 19 (from 10), 60 blocks behind finalized.',
    );
    expect(heading).toMatch(/^RANGE +BLOCKS +KINDS +STATE +NEXT STEP$/);
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
      ['0-4', '5', 'all', 'cancelled'],
      ['5-9', '5', 'all', 'not-requested'],
      ['10-29', '20', 'blocks', 'published'],
      ['10-19', '10', 'logs', 'published'],
      ['20-39', '20', 'logs', 'waiting'],
      ['30-59', '30', 'blocks', 'waiting'],
      ['40-40', '1', 'logs', 'quarantined'],
      ['41-59', '19', 'logs', 'waiting'],
      ['60-69', '10', 'all', 'queued'],
      ['70-79', '10', 'all', 'waiting'],
      ['80-99', '20', 'all', 'not-finalized'],
    ]);
    expect(out).toMatch(/quarantined +it failed once with PROOF_FAILED, and the next try is due at 20.*Z$/m);
  });

  test('says how to go on where there is more, and begins there', async () => {
    const { out } = await packhouse(
      '--holes',
      '--network',
      'main',
      '--kinds',
      'logs',
      '--limit',
      '2',
      '--to',
      '90',
    );
    expect(out).toMatch(/\nMore holes: add --network main --from 20 --to 90\.\n$/);
    const next = await packhouse(
      '--holes',
      '--network',
      'main',
      '--kinds',
      'logs',
      '--from',
      '20',
      '--to',
      '20',
    );
    expect(next.out.trim().split('\n')[2]).toMatch(/^20-20 +1 +logs +waiting/);
  });

  test('as JSON lines: every page of every network', async () => {
    const pages = jsonLines(await packhouse('--holes', '--json', '--limit', '1', '--kinds', 'logs,blocks'));
    const main = pages.filter((page) => page.network === 'main');
    expect(main.length).toBeGreaterThan(5);
    expect(main[0]).toMatchObject({
      head: 99,
      finalized: 79,
      completeThrough: 19,
      from: 0,
      to: 99,
      queueSeen: true,
    });
    expect(main.map(({ next }) => next).slice(0, -1)).toEqual(
      main.slice(1).map((page) => (page.range as { from: number }).from),
    );
    expect(main.at(-1)).toMatchObject({ next: null, range: { to: 99 } });
    expect(pages.filter((page) => page.network === 'quiet')).toMatchObject([{ head: 7, next: null }]);
  });

  test('of several networks: one after the other, also where nothing is there', async () => {
    const { out } = await packhouse('--holes');
    expect(out).toMatch(/^main: head 99/);
    expect(out).toMatch(
      /\n\nquiet: head 7, finalized 5, no backfills\.\nNo blocks are requested or published\.\n$/,
    );
  });

  test('says that the queue cannot be read where it is away', async () => {
    const { out } = await run(['status', '--holes', '--network', 'main'], {
      env: { DATABASE_URL: on.databaseUrl, REDIS_URL: 'redis://127.0.0.1:9' },
    });
    expect(out).toMatch(/^41-79 +39 +logs +waiting/m);
    expect(out).toMatch(
      /^The queue is unavailable: queued and fetching are shown as waiting, packing as staged\.$/m,
    );
  });

  test.each([
    [['--holes', '--kinds', 'uncles'], /no kind "uncles".*\[KIND_UNKNOWN\]\n$/],
    [['--holes', '--from', '0x10'], /--from takes a block number.*"0x10".*\[RANGE_INVALID\]\n$/],
    [['--holes', '--from', '9', '--to', '8'], /reversed.*\[RANGE_INVALID\]\n$/],
    [['--holes', '--limit', '0'], /--limit takes a whole number from 1 to 5000, got "0".*\[USAGE\]\n$/],
    [['--kinds', 'logs'], /--kinds needs --holes.*\[USAGE\]\n$/],
    [
      ['--holes', '--network', 'nowhere'],
      /network "nowhere"\. Networks: main, quiet\. \[NETWORK_UNKNOWN\]\n$/,
    ],
  ])('%j is refused', async (args, line) => {
    const { code, err } = await packhouse(...args);
    expect(err).toMatch(line);
    expect(code).toBe(64);
  });
});

describe('status', () => {
  test('sums up several networks: how far each is, holes by reason, the oldest quarantine', async () => {
    const { out } = await packhouse();
    expect(out).toMatch(
      /^main: head 99, finalized 79, complete through 19 \(from 10\), 60 blocks behind finalized\.$/m,
    );
    expect(out).toMatch(/^quiet: head 7, finalized 5, no backfills\.$/m);
    expect(out).toMatch(/^NETWORK +HOLES +BLOCKS +LOGS$/m);
    expect(out).toMatch(/^main +waiting +40 +49$/m);
    expect(out).toMatch(/^main +queued +10 +10$/m);
    expect(out).toMatch(/^main +quarantined +- +1$/m);
    expect(out).toMatch(/^main +not-finalized +20 +20$/m);
    expect(out).toMatch(
      /^main: longest in quarantine: block 40, since 20.*Z, PROOF_FAILED, 1 attempt, next retry 20.*Z\.$/m,
    );
  });

  test('as JSON: complete up to, blocks by reason, the oldest quarantine', async () => {
    const [main, quiet] = jsonLines(await packhouse('--json'));
    expect(main).toMatchObject({
      network: 'main',
      completeThrough: 19,
      firstRequested: 10,
      queueSeen: true,
      oldestQuarantine: { from: 40, to: 40, cause: 'PROOF_FAILED', attempts: 1 },
    });
    const kinds = main?.kinds as Record<string, unknown>[];
    expect(kinds.map(({ kind }) => kind)).toEqual(KINDS.filter((kind) => ['blocks', 'logs'].includes(kind)));
    expect(kinds.map(({ kind, completeThrough, holes }) => ({ kind, completeThrough, holes }))).toEqual([
      { kind: 'blocks', completeThrough: 29, holes: { waiting: 40, queued: 10, 'not-finalized': 20 } },
      {
        kind: 'logs',
        completeThrough: 19,
        holes: { waiting: 49, queued: 10, quarantined: 1, 'not-finalized': 20 },
      },
    ]);
    expect(quiet).toMatchObject({
      network: 'quiet',
      completeThrough: null,
      oldestQuarantine: null,
      kinds: [],
    });
  });
});
