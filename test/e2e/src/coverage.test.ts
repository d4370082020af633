import { KINDS } from '@packhouse/chain';
import type { Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// What people are told of a whole running system: nothing that is missing is silent, and all that is said is true.
const FIRST = 1_000;
const LIE = FIRST + 12;
const STUCK = FIRST + 45;
const chain = generateChain({
  txsPerBlock: 3,
  logsPerTx: 2,
  tracesPerTx: 2,
  length: 60,
  seed: 33,
  startNumber: FIRST,
});
const WAIT = { timeout: 120_000, interval: 200 };

let workspace: Workspace;
let node: ReplayNode;
let cli: Program;
let gateway: GatewayReader;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({
    blocks: chain,
    head: FIRST + 39,
    finalized: FIRST + 29,
    faults: [
      {
        do: 'tamper',
        when: { method: 'eth_getBlockReceipts', block: LIE },
        path: [0, 'gasUsed'],
        value: '0x1',
      },
    ],
  });
  const networksFile = await writeNetworksFile(workspace, node.url, 8);
  cli = startLocal(workspace, { from: FIRST, env: { NETWORKS_FILE: networksFile } });
  gateway = await gatewayReader(cli);
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

interface Hole {
  range: string;
  reason: string;
  staged: boolean;
  cause?: string;
}

interface Page {
  completeThrough: number | null;
  queueSeen: boolean;
  kinds: { kind: string; published: string[]; holes: Hole[] }[];
}

async function coverage(query: string): Promise<Page> {
  const response = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/coverage?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

/** Blocks of one kind by what is said of each. */
async function said(kind: string, from: number, to: number): Promise<string[]> {
  const { kinds, queueSeen } = await coverage(`kind=${kind}&from=${from}&to=${to}`);
  expect(queueSeen).toBe(true);
  const [found] = kinds;
  const pieces = [
    ...(found?.published ?? []).map((range) => ({ range, reason: 'published', staged: false })),
    ...(found?.holes ?? []),
  ];
  return pieces
    .map(({ range, reason, staged }) => `${range} ${reason}${staged ? ' (here)' : ''}`)
    .sort((a, b) => Number(a.split('-')[0]) - Number(b.split('-')[0]));
}

test('each hole of a running system has its reason, in the gateway and on the command line (invariant 4)', {
  timeout: 240_000,
}, async () => {
  await cli.event('quarantined', (event) => event.from === LIE);
  const database = openDatabase(workspace.databaseUrl);
  const add = (from: number, last: number) =>
    database.network('main').backfills.add({ kinds: [...KINDS], from, to: last, priority: 9 });
  try {
    await database.backfills.change((await add(900, 909)).id, { state: 'cancelled' });
    await database.backfills.change((await add(910, 919)).id, { state: 'paused' });
  } finally {
    await database.close();
  }

  // Receipts of the lie are held, its neighbours are packed; the last final blocks may wait for a full bundle.
  const packed = async (): Promise<string[]> =>
    (await said('receipts', 890, FIRST + 44)).filter((line) => !/ (staged|packing) \(here\)$/.test(line));
  await expect
    .poll(packed, WAIT)
    .toEqual([
      '890-899 not-requested',
      '900-909 cancelled',
      '910-919 paused',
      `920-${FIRST - 1} not-requested`,
      `${FIRST}-${LIE - 1} published`,
      `${LIE}-${LIE} quarantined`,
      expect.stringMatching(new RegExp(`^${LIE + 1}-10\\d\\d published$`)),
      `${FIRST + 30}-${FIRST + 39} not-finalized (here)`,
      `${FIRST + 40}-${FIRST + 44} not-produced`,
    ]);
  const page = await coverage(`kind=receipts&from=${LIE}&to=${LIE}`);
  expect(page.kinds[0]?.holes).toMatchObject([{ reason: 'quarantined', cause: 'PROOF_FAILED' }]);
  const refused = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/receipts/${LIE}`);
  expect(await refused.json()).toMatchObject({
    status: 404,
    reason: 'not-covered',
    holeReason: 'quarantined',
  });

  // A node that does not answer about one block: its window is being fetched, and said to be.
  node.faults.add({ do: 'hang', when: { method: 'eth_getBlockReceipts', block: STUCK } });
  node.setHead(FIRST + 59);
  node.setFinalized(FIRST + 59);
  const stuck = async (): Promise<string> => (await said('logs', STUCK, STUCK)).join();
  await expect.poll(stuck, WAIT).toMatch(/ (fetching|queued)$/);

  const shown = startCli(
    [
      'status',
      '--holes',
      '--json',
      '--network',
      'main',
      '--kinds',
      'receipts',
      '--from',
      '890',
      '--to',
      String(LIE),
    ],
    { env: workspace.env },
  );
  expect(await shown.exit, shown.stderr()).toBe(0);
  const line = JSON.parse(shown.stdout().trim()) as {
    queueSeen: boolean;
    kinds: { holes: { from: number; to: number; reason: string }[] }[];
  };
  expect(line.queueSeen).toBe(true);
  expect(line.kinds[0]?.holes.map(({ from, to, reason }) => `${from}-${to} ${reason}`)).toEqual([
    '890-899 not-requested',
    '900-909 cancelled',
    '910-919 paused',
    `920-${FIRST - 1} not-requested`,
    `${LIE}-${LIE} quarantined`,
  ]);
});
