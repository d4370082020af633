import { deflateRawSync } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import { beforeAll, expect, test } from 'vitest';
import { jsonLines, type Outcome } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  const { database } = on;
  await database.networks.register({ id: 'main', chainId: 1 });
  await database.network('main').head.set({ number: 2_000, hash: hash(2_000), finalized: 1_900 });
  await database.network('main').backfills.add({ kinds: ['logs', 'traces'], from: 0, to: null, priority: 1 });
  const paused = await database.network('main').backfills.add({
    kinds: ['blocks'],
    from: 40,
    to: 49,
    priority: 2,
  });
  await database.backfills.change(paused.id, { state: 'paused' });
  const failed = { upstream: 'node-1', payloadDigest: 'ab'.repeat(32) };
  await database.network('main').quarantine.put({
    ...failed,
    firstBlock: 10,
    kinds: ['traces'],
    cause: 'PROOF_FAILED',
    message: 'The traces of block 10 do not fit.',
    tried: [
      { upstream: 'node-1', cause: 'PROOF_FAILED', message: 'lies', payloadDigest: 'ab'.repeat(32) },
      { upstream: 'node-2', cause: 'NODE_TIMEOUT', message: 'sleeps', payloadDigest: null },
    ],
  });
  await database.network('main').quarantine.put({
    ...failed,
    firstBlock: 100,
    lastBlock: 1_099,
    kinds: ['logs', 'traces'],
    cause: 'BLOCKS_UNAVAILABLE',
    message: 'Nobody keeps them.',
  });
  await stage(10, ['logs']);
  await stage(20, ['logs', 'traces']);
});
const hash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

/** Stages one block in these kinds. */
async function stage(number: number, kinds: Kind[]): Promise<void> {
  const raw = Buffer.from('[]');
  const body = deflateRawSync(raw);
  const fragment = {
    firstBlock: number,
    lastBlock: number,
    body,
    byteLength: body.length,
    rawLength: raw.length,
    crc32: 0,
  };
  await on.database.network('main').staging.stage({
    blocks: [
      {
        number,
        hash: hash(number),
        parentHash: hash(number - 1),
        timestamp: number,
        transactionCount: 0,
        proofs: ['headerHash'],
      },
    ],
    kinds: kinds.map((kind) => ({ kind, fragments: [fragment] })),
  });
}

const packhouse = (...args: string[]): Promise<Outcome> => on.packhouse('quarantine', ...args);

async function refused(...args: string[]): Promise<string> {
  const outcome = await packhouse(...args);
  expect(outcome).toMatchObject({ code: 64, out: '' });
  return outcome.err;
}

test('the list shows ranges, kinds, cause, upstream and the next try; by cause and page by page', async () => {
  const { out } = await packhouse('list');
  expect(out).toMatch(/^NETWORK +BLOCKS +KINDS +CAUSE +UPSTREAM +ATTEMPTS +NEXT RETRY\n/);
  expect(out).toMatch(/^main +10 +traces +PROOF_FAILED +node-1 +1 +in \d+ s$/m);
  expect(out).toMatch(/^main +100-1099 +logs,traces +BLOCKS_UNAVAILABLE +node-1 +1 +in \d+ s$/m);
  const [row] = jsonLines(await packhouse('list', '--cause', 'BLOCKS_UNAVAILABLE', '--json'));
  expect(row).toMatchObject({ from: 100, to: 1_099, attempts: 1 });
  const first = await packhouse('list', '--limit', '1');
  expect(first.out).toMatch(/More rows: add --network main --after 10\.\n$/);
  const rest = jsonLines(await packhouse('list', '--after', '10', '--network', 'main', '--json'));
  expect(rest.map(({ from }) => from)).toEqual([100]);
  expect((await packhouse('list', '--cause', 'NODE_ERROR')).out).toBe('No quarantined blocks.\n');
});

test('a block is shown with what each upstream did, what is affected, the next retry and the remedy', async () => {
  const { out } = await packhouse('show', '10');
  expect(out).toMatch(/^Block 10 of main is quarantined: PROOF_FAILED\n/);
  expect(out).toMatch(/message +The traces of block 10 do not fit\.\n/);
  expect(out).toMatch(/responses +node-1: lies \(sha256 of the response: (ab){32}\)\n +node-2: sleeps\n/);
  expect(out).toMatch(/affected +traces; their bundles end at block 9 and continue after block 10\n/);
  expect(out).toMatch(/other kinds: .*logs staged/);
  expect(out).toMatch(/next retry +in \d+ s \(/);
  expect(out).toMatch(/remedy +The response of node-1 does not match the block header/);
  expect(out).toMatch(/Then: packhouse quarantine retry 10 --network main\n$/);
  const inside = await packhouse('show', '500', '--network', 'main');
  expect(inside.out).toMatch(/^Blocks 100 to 1099 of main \(1,000\) are quarantined: BLOCKS_UNAVAILABLE\n/);
  const [json] = jsonLines(await packhouse('show', '10', '--json'));
  expect(json).toMatchObject({ from: 10, standing: { logs: 'staged', traces: 'quarantined' } });
});

test('a retry makes blocks due and counts them', async () => {
  expect((await packhouse('retry', '10')).out).toBe('main: retrying 1 block now.\n');
  expect(jsonLines(await packhouse('retry', '90-109', '--json'))).toEqual([{ network: 'main', retried: 10 }]);
  expect((await packhouse('retry', 'all')).out).toBe('main: retrying 1,001 blocks now.\n');
  const due = await on.database.network('main').quarantine.due({
    finalized: 2_000,
    limit: 9,
  });
  expect(due.map(({ firstBlock }) => firstBlock).sort((a, b) => a - b)).toEqual([10, 100]);
  expect((await packhouse('list')).out).toMatch(/ now\n/);
});

test.each([
  [['retry', '20'], /Block 20 of main is not quarantined: it is staged \(logs, traces\) and will be packed/],
  [['retry', '30'], /Block 30 .*: its logs, traces are missing and will be fetched\./],
  [['show', '1950'], /Block 1950 .*: it is not finalized yet/],
  [['show', '2001'], /Block 2001 .*: it is above the head/],
  [['retry', '50-60'], /No block from 50 to 60 of main is quarantined.*quarantine list/],
  [['retry', '60-50'], /range 60 to 50 is reversed.*\[RANGE_INVALID\]/],
  [['retry', 'some'], /"some"/],
  [['retry', '1-2-3'], /"1-2-3"/],
  [['retry', '1', '--network', 'nowhere'], /network "nowhere"\. Networks: main\. \[NETWORK_UNKNOWN\]/],
  [['list', '--limit', '0'], /--limit takes a whole number from 1 to 10000/],
])('quarantine %j is refused with one clear sentence', async (args, line) => {
  expect(await refused(...(args as string[]))).toMatch(line as RegExp);
});

test('a block that nobody wants, or whose backfill is paused, says so; several networks ask which', async () => {
  const [range] = await on.database.network('main').backfills.list();
  await on.database.backfills.change(range?.id ?? 0, { state: 'cancelled' });
  expect(await refused('retry', '30')).toMatch(
    /Block 30 of main is not quarantined: no backfill includes it; /,
  );
  expect(await refused('retry', '45')).toMatch(/its backfill is paused; `packhouse backfill resume`/);
  await on.database.networks.register({ id: 'other', chainId: 2 });
  expect(await refused('show', '10')).toMatch(/Select one of 2 networks with --network\./);
  expect((await packhouse('retry', 'all')).out).toMatch(
    /^main: retrying 1,001 blocks now\.\nother: no quarantined blocks\.\n$/,
  );
});

test('staging that is full is said by the status', async () => {
  await on.database.network('main').pressure.note({ stagedBytes: 2_000_000, limitBytes: 1_000_000 });
  const { out } = await on.packhouse('status', '--network', 'main');
  expect(out).toMatch(/main: throttled \(staging full, 2\.0 MB of 1\.0 MB\) since \d{4}-/);
});
