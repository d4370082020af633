import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { KINDS, type Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { type Anvil, callNode, type Program, startAnvil } from '@packhouse/local';
import { createReplayNode, generateChain, type RecordedBlock, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import { startCli } from './cli-process.js';
import { startDownloads } from './download-loop.js';
import { type GatewayReader, gatewayReader, readerOf } from './gateway-reader.js';
import { longer } from './longer.js';
import { openDatabase } from './open-database.js';
import { canonical, checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const FIRST = 1_000;
const OPTIONS = { txsPerBlock: 4, logsPerTx: 2, tracesPerTx: 3 };
const WAIT = { timeout: 120_000, interval: 50 };
vi.setConfig({ testTimeout: 400_000 });

let closers: (() => Promise<unknown>)[] = [];
const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close();
};

/** `length` blocks in all: the first `kept` of a chain and new ones on top. */
function branch(
  chain: readonly RecordedBlock[],
  kept: number,
  length: number,
  seed: number,
): RecordedBlock[] {
  const { number, block } = chain[kept - 1] as RecordedBlock;
  const after = { number, hash: block.hash, timestamp: Number(block.timestamp) };
  return [...chain.slice(0, kept), ...generateChain({ ...OPTIONS, length: length - kept, seed, after })];
}

interface Node {
  url: string;
  ws?: string;
}

/** `packhouse local` behind a networks file with these networks, all of them followed from `FIRST` unless said otherwise. */
async function startOn(
  networks: { id: string; chainId: number; nodes: Node[]; pollIntervalMs: number; finality?: object }[],
  from = FIRST,
): Promise<{ workspace: Workspace; cli: Program; gateway: GatewayReader }> {
  const workspace = await makeWorkspace(inject('postgresUrl'));
  closers.push(() => workspace.remove());
  const file = path.join(workspace.directory, 'networks.json');
  const text = {
    networks: networks.map(({ nodes, ...network }) => ({
      ...network,
      family: 'evm',
      upstreams: nodes,
      bundles: { maxBlocks: 8 },
    })),
  };
  await writeFile(file, JSON.stringify(text));
  const cli = startLocal(workspace, { from, env: { NETWORKS_FILE: file } });
  closers.push(() => end(cli));
  return { workspace, cli, gateway: await gatewayReader(cli) };
}

async function replayNode(options: Parameters<typeof createReplayNode>[0]): Promise<ReplayNode> {
  const node = await createReplayNode(options);
  closers.push(() => node.close());
  return node;
}

// One system has a network for each test: a start takes longer than what most of them do.
const trunks = {
  told: generateChain({ ...OPTIONS, length: 40, seed: 31, startNumber: FIRST }),
  main: generateChain({ ...OPTIONS, length: 30, seed: 41, startNumber: FIRST }),
  below: generateChain({ ...OPTIONS, length: 30, seed: 71, startNumber: FIRST }),
  other: generateChain({ ...OPTIONS, length: 30, seed: 72, startNumber: FIRST }),
  links: generateChain({ ...OPTIONS, length: 35, seed: 21, startNumber: FIRST }),
};
let nodes: Record<keyof typeof trunks, ReplayNode>;
let workspace: Workspace;
let cli: Program;
/** Of the network `told`. */
let gateway: GatewayReader;
let database: Database;
let closeSystem: () => Promise<void>;
beforeAll(async () => {
  const [at20, at15] = [FIRST + 20, FIRST + 15];
  nodes = {
    told: await replayNode({ blocks: trunks.told, head: FIRST + 10, finalized: FIRST + 5 }),
    main: await replayNode({ blocks: trunks.main, head: FIRST + 24, finalized: FIRST + 7 }),
    below: await replayNode({ blocks: trunks.below, head: at20, finalized: at15 }),
    other: await replayNode({ blocks: trunks.other, head: at20, finalized: at15 }),
    links: await replayNode({ blocks: trunks.links, head: FIRST + 19, finalized: FIRST + 9 }),
  };
  const network = (id: keyof typeof trunks, pollIntervalMs: number, ws: boolean) => {
    const { url, wsUrl } = nodes[id];
    return { id, chainId: 1, nodes: [{ url, ...(ws && { ws: wsUrl }) }], pollIntervalMs };
  };
  ({ workspace, cli, gateway } = await startOn([
    network('told', 60_000, true),
    network('main', 200, true),
    network('below', 200, false),
    network('other', 200, false),
    network('links', 200, false),
  ]));
  database = openDatabase(workspace.databaseUrl);
  closers.push(() => database.close());
  for (const id of ['main', 'below', 'other', 'links'])
    await database.network(id).backfills.add({ kinds: [...KINDS], from: FIRST, to: null, priority: 1 });
  const own = closers;
  closers = [];
  closeSystem = async () => {
    closers.push(...own);
    await closeAll();
  };
});
afterEach(closeAll);
afterAll(() => closeSystem?.());

/** The gateway as a reader of another network of the system has it. */
function readerFor(network: keyof typeof trunks): GatewayReader {
  const [baseUrl, downloadUrl] = [gateway.baseUrl, gateway.downloadUrl].map((url) =>
    url.replace('/told/', `/${network}/`),
  ) as [string, string];
  return readerOf({ ...gateway, baseUrl, downloadUrl });
}

test('a new block answers as soon as its subscription tells of it, long before the next poll', async () => {
  const node = nodes.told;
  await expect.poll(() => node.feed.subscribers, WAIT).toBe(1);
  for (let number = FIRST + 11; number <= FIRST + 14; number += 1) {
    node.setHead(number);
    const found = async (): Promise<string | undefined> => {
      const response = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/traces/${number}`);
      return response.status === 200 ? ((await response.json()) as { range: string }).range : undefined;
    };
    await expect.poll(found, { ...WAIT, timeout: 45_000 }).toBe(`${number}-${number}`);
  }
});

test('invariant 6: reorganisations while downloads run: every answer is the right block, or says what became of it', async () => {
  const [trunk, node, gateway] = [trunks.main, nodes.main, readerFor('main')];

  // Every block that any branch ever had, by kind and number.
  const known = new Map<string, unknown[]>();
  const learn = (blocks: readonly RecordedBlock[]): void => {
    for (const block of blocks) {
      for (const kind of KINDS) {
        const key = `${kind} ${block.number}`;
        known.set(key, [...(known.get(key) ?? []), canonical(block, kind)]);
      }
    }
  };
  learn(trunk);
  let chain: readonly RecordedBlock[] = trunk;
  let head = FIRST + 24;
  /** All that is staged above what is final is what the chain has, and all of it is there. */
  const settled = async (): Promise<boolean> => {
    const staged = await database
      .network('main')
      .staging.blocks({ firstBlock: FIRST + 8, lastBlock: FIRST + 1_000 });
    const hashes = new Map(staged.map((block) => [block.number, block.hash]));
    return chain
      .filter(({ number }) => number >= FIRST + 8 && number <= head)
      .every(({ number, block }) => hashes.get(number) === block.hash);
  };
  await expect.poll(settled, WAIT).toBe(true);

  const downloads = startDownloads(gateway, {
    first: FIRST,
    newest: () => FIRST + 40,
    isRight: (kind, number, record) =>
      (known.get(`${kind} ${number}`) ?? []).some((one) => isDeepStrictEqual(one, record)),
  });
  // Short and deep, longer and shorter, and back to where it was.
  for (const [i, { kept, length }] of [
    { kept: 24, length: 27 },
    { kept: 12, length: 30 },
    { kept: 20, length: 26 },
    { kept: 9, length: 34 },
  ].entries()) {
    const before = { chain, head };
    const next = branch(chain, kept, length, 50 + i);
    learn(next.slice(kept));
    chain = next;
    head = FIRST + length - 1;
    node.setBlocks(next);
    await expect.poll(settled, WAIT).toBe(true);
    if (i % 2 === 1) continue;
    ({ chain, head } = before);
    node.setBlocks(chain, head);
    await expect.poll(settled, WAIT).toBe(true);
    chain = next;
    head = FIRST + length - 1;
    node.setBlocks(next);
    await expect.poll(settled, WAIT).toBe(true);
  }
  // A shorter branch: the blocks above it are gone, and say so.
  const short = branch(chain, 10, 20, 60);
  learn(short.slice(10));
  chain = short;
  head = FIRST + 19;
  node.setBlocks(short);
  const last = async (): Promise<number> =>
    (await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/blocks/${FIRST + 33}`)).status;
  await expect.poll(last, WAIT).toBe(410);
  await expect.poll(settled, WAIT).toBe(true);
  await expect.poll(() => downloads.counts['410 reorganised'] ?? 0, WAIT).toBeGreaterThan(0);
  await downloads.stop();
  expect(downloads.wrong).toEqual([]);
  expect(downloads.counts['200']).toBeGreaterThan(50);

  node.setFinalized(FIRST + 19);
  const published = async (): Promise<number | undefined> =>
    (await database.network('main').coverage('traces')).published.at(-1)?.lastBlock;
  await expect.poll(published, WAIT).toBeGreaterThanOrEqual(FIRST + 15);
  const count = ((await published()) as number) - FIRST + 1;
  const all = async (): Promise<boolean> =>
    (await Promise.all(KINDS.map((kind) => database.network('main').coverage(kind)))).every(
      ({ published }) => published.at(-1)?.lastBlock === FIRST + count - 1,
    );
  await expect.poll(all, WAIT).toBe(true);
  await checkPublished(workspace, short.slice(0, count), 'main');
});

/** Waits until a network of the system has all blocks up to one, staged or published in all kinds. */
async function reached(
  network: keyof typeof trunks,
  what: 'staged' | 'published',
  last: number,
): Promise<void> {
  const { coverages, staging } = database.network(network);
  const has = async (): Promise<boolean> => {
    if (what === 'staged') return (await staging.newest())?.number === last;
    return [...(await coverages(KINDS)).values()].every(
      ({ published }) => published.at(-1)?.lastBlock === last,
    );
  };
  await expect.poll(has, WAIT).toBe(true);
}

test('invariant 6: the links of new blocks give the same blocks after they are packed and staging is reclaimed', async () => {
  const [chain, node, gateway] = [trunks.links, nodes.links, readerFor('links')];
  const at = (number: number): RecordedBlock => chain[number - FIRST] as RecordedBlock;
  /** The link of a block that is staged and not packed, followed once. */
  const newLink = async (kind: Kind, number: number): Promise<string> => {
    const { range, download_link } = await gateway.pointer(kind, number);
    expect(range).toBe(`${number}-${number}`);
    expect(await gateway.records(download_link)).toEqual([canonical(at(number), kind)]);
    return download_link;
  };
  await reached('links', 'staged', 1_019);
  const links: [Kind, number, string][] = [];
  for (const kind of ['blocks', 'logs', 'traces'] as const)
    for (const number of [1_011, 1_013, 1_019]) links.push([kind, number, await newLink(kind, number)]);

  // The blocks become final when they are staged: bundles of 8 blocks come out even.
  node.setHead(1_031);
  await reached('links', 'staged', 1_031);
  node.setFinalized(1_031);
  await reached('links', 'published', 1_031);
  const { staging } = database.network('links');
  const inStaging = () => staging.blocks({ firstBlock: FIRST, lastBlock: FIRST + 1_000 });
  await expect.poll(inStaging, WAIT).toEqual([]);

  for (const [kind, number, link] of links) {
    expect(await gateway.records(link)).toEqual([canonical(at(number), kind)]);
    const { range } = await gateway.pointer(kind, number);
    const [start, last] = range.split('-').map(Number) as [number, number];
    expect(start <= number && number <= last && start < last, range).toBe(true);
  }

  // The chain grows on from what is published and gone from staging.
  node.setHead(1_032);
  await reached('links', 'staged', 1_032);
  await newLink('receipts', 1_032);
});

/** The chain of an Anvil from a block up, as the gateway has to serve it. */
async function getChain(anvil: Anvil, from: number): Promise<RecordedBlock[]> {
  const head = Number(await callNode<string>(anvil.url, 'eth_blockNumber'));
  const blocks: RecordedBlock[] = [];
  for (let number = from; number <= head; number += 1) {
    const hex = `0x${number.toString(16)}`;
    blocks.push({
      number,
      block: await callNode(anvil.url, 'eth_getBlockByNumber', [hex, true]),
      receipts: await callNode(anvil.url, 'eth_getBlockReceipts', [hex]),
      traces: await callNode(anvil.url, 'trace_block', [hex]),
    } as RecordedBlock);
  }
  return blocks;
}

/**
 * A record without what Packhouse puts right: the size of a block, which Anvil gives too small, and the price of blobs in
 * receipts of transactions that have none.
 */
function withoutNoise(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return record;
  if (Array.isArray(record)) return record.map(withoutNoise);
  const { blobGasPrice: _, size: __, ...rest } = record as { blobGasPrice?: unknown; size?: unknown };
  return rest;
}

longer('Anvil reorganises again and again while downloads run, and its new blocks are served', async () => {
  const workspaceOfAnvil = await makeWorkspace(inject('postgresUrl'));
  closers.push(() => workspaceOfAnvil.remove());
  const anvil = await startAnvil({
    args: ['--chain-id', '31337', '--no-mining'],
    pidFile: path.join(workspaceOfAnvil.directory, 'anvil.pid'),
  });
  closers.push(() => anvil.stop());
  const [from, to] = await callNode<[string, string]>(anvil.url, 'eth_accounts');
  /** Mines blocks with a transfer each, of an amount that tells branches apart. */
  const mine = async (blocks: number, value: number): Promise<void> => {
    for (let i = 0; i < blocks; i += 1) {
      await callNode(anvil.url, 'eth_sendTransaction', [{ from, to, value: `0x${value.toString(16)}` }]);
      await callNode(anvil.url, 'anvil_mine', ['0x1']);
    }
  };
  await mine(30, 1);
  const nodes = [{ url: anvil.url, ws: anvil.url.replace('http', 'ws') }];
  const finality = { tag: false, depth: 24 };
  const { gateway } = await startOn(
    [{ id: 'anvil', chainId: 31_337, nodes, pollIntervalMs: 200, finality }],
    1,
  );
  const head = async (): Promise<number> => Number(await callNode<string>(anvil.url, 'eth_blockNumber'));
  const served = async (number: number): Promise<unknown> => {
    const response = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/blocks/${number}`);
    if (response.status !== 200) return undefined;
    const { range, download_link } = (await response.json()) as { range: string; download_link: string };
    const answer = await gateway.ask(download_link);
    if (answer.status !== 200) return undefined;
    const { gunzipSync } = await import('node:zlib');
    const records = JSON.parse(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()) as {
      hash: string;
    }[];
    return records[number - Number(range.split('-')[0])]?.hash;
  };
  const getHash = async (number: number): Promise<string> =>
    (await callNode<{ hash: string }>(anvil.url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]))
      .hash;

  const known = new Map<string, unknown[]>();
  const learn = async (): Promise<void> => {
    for (const block of await getChain(anvil, 1)) {
      for (const kind of KINDS) {
        const key = `${kind} ${block.number}`;
        const record = withoutNoise(canonical(block, kind));
        const had = known.get(key) ?? [];
        if (!had.some((one) => isDeepStrictEqual(one, record))) known.set(key, [...had, record]);
      }
    }
  };
  await learn();
  const newest = await head();
  const downloads = startDownloads(gateway, {
    first: 1,
    newest: () => newest + 20,
    // A block may be served before this test has asked for it: only then is it looked for later.
    isRight: (kind, number, record) => {
      late.push({ kind, number, record: withoutNoise(record) });
      return true;
    },
  });
  const late: { kind: Kind; number: number; record: unknown }[] = [];
  for (const [round, depth] of [3, 12, 1, 20].entries()) {
    await callNode(anvil.url, 'anvil_reorg', [depth, []]);
    await learn();
    await mine(2, 100 + round);
    await learn();
    const top = await head();
    await expect.poll(() => served(top), WAIT).toBe(await getHash(top));
    for (const number of [top - depth, top - 1]) {
      await expect.poll(() => served(number), WAIT).toBe(await getHash(number));
    }
  }
  await downloads.stop();
  expect(downloads.wrong).toEqual([]);
  expect(downloads.counts['200']).toBeGreaterThan(20);
  const unknown = late.filter(
    ({ kind, number, record }) =>
      !(known.get(`${kind} ${number}`) ?? []).some((one) => isDeepStrictEqual(one, record)),
  );
  expect(unknown.map(({ kind, number }) => `${kind} ${number}`)).toEqual([]);
});

test('a reorganisation below finality is told by name; the other network goes on', async () => {
  const [chain, node, other, gateway] = [trunks.below, nodes.below, nodes.other, readerFor('below')];
  const top = async (network: string): Promise<number | undefined> =>
    (await database.network(network).staging.newest())?.number;
  const anchor = async (): Promise<number | undefined> =>
    (await database.network('below').head.anchor())?.number;
  await expect.poll(() => top('below'), WAIT).toBe(FIRST + 20);
  await expect.poll(() => top('other'), WAIT).toBe(FIRST + 20);
  await expect.poll(anchor, WAIT).toBe(FIRST + 15);

  node.setBlocks(branch(chain, 10, 40, 72));
  other.setHead(FIRST + 25);
  const problem = await cli.event('problem', (event) => event.code === 'REORG_BELOW_FINALITY');
  expect(problem.message).toMatch(/^Block 1015 of below is final with hash 0x\w+, and node upstream-1 /);
  await expect.poll(() => top('other'), WAIT).toBe(FIRST + 25);
  expect(await top('below')).toBe(FIRST + 20);
  expect((await gateway.pointer('blocks', FIRST + 20)).range).toBe('1020-1020');

  const status = startCli(['status', '--network', 'below'], { env: workspace.env });
  expect(await status.exit).toBe(0);
  expect(status.stdout()).toMatch(/^below +REORG_BELOW_FINALITY /m);
  // The chain comes back by itself.
  node.setBlocks(chain, FIRST + 28);
  await expect.poll(() => top('below'), WAIT).toBe(FIRST + 28);
  const names = (await database.alarms.list()).map(({ name }) => name);
  expect(names).not.toContain('REORG_BELOW_FINALITY');
});
