import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { type Geth, gethInstalled, type Program, startGeth } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { makeBlocksUpTo, makeGethBlocks, readGethChain } from './geth-chain.js';
import { openDatabase } from './open-database.js';
import { canonical, checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const WAIT = { timeout: 120_000, interval: 50 };
vi.setConfig({ testTimeout: 400_000 });

describe.skipIf(!gethInstalled())('packhouse local on a real geth (needs geth)', () => {
  let geth: Geth;
  let workspace: Workspace;
  let cli: Program;
  let gateway: GatewayReader;
  let database: ReturnType<typeof openDatabase>;
  const head = async (): Promise<number> => Number(await geth.rpc('eth_blockNumber', []));
  /** The last block that is published in all kinds, as soon as that is one from `least` up. */
  const publishedFrom = (least: number): Promise<number> =>
    vi.waitFor(async () => {
      const all = await Promise.all(KINDS.map((kind) => database.network('geth').coverage(kind)));
      const [last, ...others] = new Set(all.map((coverage) => coverage.published.at(-1)?.lastBlock ?? -1));
      expect(others).toEqual([]);
      expect(last).toBeGreaterThanOrEqual(least);
      return last as number;
    }, WAIT);
  /** The newest block that is staged, and that geth has. */
  const staged = async (): Promise<unknown> => {
    const newest = await database.network('geth').staging.newest();
    return newest === null ? null : { number: newest.number, hash: newest.hash };
  };
  const newest = async (): Promise<unknown> => {
    const { number, hash } = await geth.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    return { number: Number(number), hash };
  };

  beforeAll(async () => {
    geth = await startGeth('--gcmode', 'archive');
    workspace = await makeWorkspace(inject('postgresUrl'));
    const file = path.join(workspace.directory, 'networks.json');
    const network = {
      id: 'geth',
      family: 'evm',
      chainId: 1_337,
      pollIntervalMs: 200,
      bundles: { maxBlocks: 8 },
    };
    await writeFile(file, JSON.stringify({ networks: [{ ...network, upstreams: [{ url: geth.url }] }] }));
    cli = startLocal(workspace, { from: 0, env: { NETWORKS_FILE: file } });
    gateway = await gatewayReader(cli);
    database = openDatabase(workspace.databaseUrl);
  });
  afterAll(async () => {
    await end(cli);
    await database?.close();
    await workspace?.remove();
    await geth?.stop();
  });

  test('publishes and serves exactly what geth answers, of transactions of all types', async () => {
    const receipts = await makeGethBlocks(geth);
    const facts = Object.entries(receipts).map(([name, { type, status }]) => [name, [type, status].join()]);
    expect(Object.fromEntries(facts)).toEqual({
      creation: '0x2,0x1',
      'type 0': '0x0,0x1',
      'type 1': '0x1,0x1',
      'type 2': '0x2,0x1',
      'type 3': '0x3,0x1',
      'type 4': '0x4,0x1',
      revert: '0x2,0x0',
      'failed creation': '0x2,0x0',
      'destroyed at once': '0x2,0x1',
      destruction: '0x2,0x1',
    });
    await makeBlocksUpTo(geth, 40, 1);
    const last = await publishedFrom(24);
    expect(last).toBeLessThanOrEqual(32);
    const chain = await readGethChain(geth, 0, last);
    const traces = chain.flatMap((block) => block.traces as { type: string; error?: string }[]);
    expect([...new Set(traces.map(({ type, error }) => `${type} ${error ?? 'done'}`))].sort()).toEqual([
      'call Reverted',
      'call done',
      'create Bad instruction',
      'create done',
      'suicide done',
    ]);
    expect(
      chain.flatMap(({ block }) => (block as { withdrawals?: unknown[] }).withdrawals ?? []),
    ).toHaveLength(1);
    await checkPublished(workspace, chain, 'geth');
    for (const kind of KINDS) {
      const { range, download_link } = await gateway.pointer(kind, 3);
      const [start, to] = range.split('-').map(Number) as [number, number];
      const records = await gateway.records(download_link);
      expect(records).toEqual(chain.slice(start, to + 1).map((block) => canonical(block, kind)));
    }
  });

  test('undoes what geth sets back, and publishes what comes in its place', async () => {
    await makeBlocksUpTo(geth, 60, 1);
    await expect.poll(staged, WAIT).toEqual(await newest());
    const top = await head();
    const { download_link } = await gateway.pointer('traces', top);
    await geth.rpc('debug_setHead', ['0x2d']);
    await makeBlocksUpTo(geth, 50, 7);
    await expect.poll(staged, WAIT).toEqual(await newest());
    const pointer = async (): Promise<number> =>
      (await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/traces/${top}`)).status;
    await expect.poll(pointer, WAIT).toBe(410);
    expect((await gateway.ask(download_link)).status).toBe(410);
    await makeBlocksUpTo(geth, 70, 7);
    const chain = await readGethChain(geth, 0, await publishedFrom(56));
    await checkPublished(workspace, chain, 'geth');
  });

  test('keeps what is published if geth sets back final blocks, and says so', async () => {
    const last = await publishedFrom(56);
    const chain = await readGethChain(geth, 0, 64);
    await geth.rpc('debug_setHead', ['0x28']);
    // geth has no final block now.
    await expect(geth.rpc('eth_getBlockByNumber', ['finalized', false])).rejects.toThrow('not found');
    await makeBlocksUpTo(geth, 100, 9);
    const { message } = await cli.event('problem', (event) => event.code === 'REORG_BELOW_FINALITY');
    const [, number, hash] = /^Block (\d+) of geth is final with hash (0x\w+), /.exec(String(message)) ?? [];
    expect(Number(number)).toBeGreaterThan(40);
    expect(chain[Number(number)]).toMatchObject({ block: { hash } });
    await checkPublished(workspace, chain.slice(0, last + 1), 'geth');
  });
});
