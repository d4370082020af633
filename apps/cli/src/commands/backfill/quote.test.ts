import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Budget } from '@packhouse/database';
import {
  createReplayNode,
  generateChain,
  type ReplayNode,
  type ReplayNodeOptions,
} from '@packhouse/replay-node';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const FIRST = 1_000;
const blocks = [
  ...generateChain({ length: 60, txsPerBlock: 4, logsPerTx: 2, tracesPerTx: 3, startNumber: FIRST }),
];
const on = useCommands();
let node: ReplayNode;
beforeAll(() => on.database.networks.register({ id: 'main', chainId: 1 }).then(() => undefined));
afterEach(() => node.close());

async function serve(options: Partial<ReplayNodeOptions> = {}): Promise<void> {
  node = await createReplayNode({ blocks, ...options });
  const file = path.join(on.directory, 'networks.json');
  const upstreams = [{ name: 'archive', url: node.url, requestsPerSecond: 1_000 }];
  await writeFile(file, JSON.stringify({ networks: [{ id: 'main', family: 'evm', chainId: 1, upstreams }] }));
  on.env.NETWORKS_FILE = file;
}

const range = ['--network', 'main', '--from', String(FIRST), '--to', String(FIRST + 59)];

test('a quote is a table of kinds, of calls and of totals, and a dry run is the same and orders nothing', async () => {
  await serve();
  const { out } = await on.done('backfill', 'quote', ...range, '--kinds', 'logs,receipts');
  expect(out).toMatch(/^main 1000 to 1059: 60 blocks to fetch; head 1059\.$/m);
  expect(out).toMatch(/^receipts +0 +0 +0 +60 +[\d.]+ kB \([\d.]+ kB - [\d.]+ kB\) +[\d.]+ kB /m);
  expect(out).toMatch(/^archive +eth_getBlockByNumber +60 +\d+ +[\d.]+ kB /m);
  expect(out).toMatch(/^archive +eth_getBlockReceipts +\d+ /m);
  expect(out).toMatch(/^Time at the current rate +unknown: no ingester of this network is active$/m);
  expect(out).toMatch(/^Estimated from \d+ sample blocks and \d+ requests\. /m);
  const dry = await on.done('backfill', 'add', ...range, '--kinds', 'logs,receipts', '--dry-run');
  const shape = (text: string): string => text.replaceAll(/[\d.,]+|[kM]?B|s$/gm, '#').replaceAll(/ +/g, ' ');
  expect(shape(dry.out)).toBe(shape(out));
  expect(await on.database.backfills.list()).toEqual([]);
});

test('kinds that no node offers are named, and the rest is quoted', async () => {
  await serve({ capabilities: { traceBlock: false, debugFlat: false, debugCall: false } });
  const { out } = await on.done('backfill', 'quote', ...range);
  expect(out).toMatch(/^No node offers traces of main with the rest\. Left out of this quote\.$/m);
  expect(out).not.toMatch(/^traces /m);
  expect(await on.refused(69, 'backfill', 'quote', ...range, '--kinds', 'traces')).toMatch(
    /traces.*\[NODE_METHOD_MISSING\]$/,
  );
});

test('what is ordered already is not counted, and nothing missing is said', async () => {
  await serve();
  const { backfills } = on.database.network('main');
  await backfills.add({ kinds: ['logs'], from: FIRST, to: null, priority: 1 }, 'test');
  const [made] = jsonLines(
    await on.done('backfill', 'quote', ...range, '--kinds', 'logs,receipts', '--json'),
  );
  expect(made).toMatchObject({
    blocks: 60,
    standing: [
      { kind: 'receipts', ordered: 0, missing: 60 },
      { kind: 'logs', ordered: 60, missing: 0 },
    ],
  });
  const { out } = await on.done('backfill', 'quote', ...range, '--kinds', 'logs');
  expect(out).toMatch(/^main 1000 to 1059: no missing blocks; all are published, staged or requested\.$/m);
});

test.each([
  [['--network', 'main', '--from', '1000', '--to', '1060'], 64, /head is block 1059.*\[RANGE_BEYOND_HEAD\]$/],
  [
    ['--network', 'other', '--from', '1'],
    64,
    /Unknown network "other".*Its networks: main.*\[NETWORK_UNKNOWN\]$/,
  ],
])('a quote of %j is refused', async (args, code, line) => {
  await serve();
  expect(await on.refused(code, 'backfill', 'quote', ...args)).toMatch(line);
});

test('a quote of a network of which no node answers is refused', async () => {
  await serve({ chainId: 7 });
  expect(await on.refused(78, 'backfill', 'quote', ...range)).toMatch(/\[NODE_WRONG_CHAIN\]$/);
});

test('with a budget of the provider its units and price are told', async () => {
  await serve();
  const budget: Budget = {
    provider: '127.0.0.1',
    unit: 'units',
    perSecond: 1,
    perDay: null,
    perMonth: null,
    reserve: 0.5,
    weights: { other: 20 },
    pricePerMillion: 1_000,
    currency: 'EUR',
  };
  await on.database.budgets.change(budget.provider, () => budget, 'test');
  const { out } = await on.done('backfill', 'quote', ...range, '--kinds', 'blocks');
  expect(out).toMatch(/^Units at 127\.0\.0\.1 +1,200$/m);
  expect(out).toMatch(/^Price at 127\.0\.0\.1 +1\.20 EUR$/m);
  expect(out).toMatch(/^Time at the limits of the nodes +40 min$/m);
});
