import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import {
  callNode,
  type FreshDatabase,
  freshDatabase,
  type Program,
  type ProgramEvent,
  runSql,
  seededRandom,
  startDemoChain,
} from '@packhouse/local';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { root } from './pasted.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// A demo chain that reorganises while others follow it, with blocks that come faster than those of `npm start`. Run in
// order.
const WAIT = { timeout: 120_000, interval: 50 };
const KILLS = process.env.SEEDS === 'many' ? 20 : 2;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
let workspace: Workspace;
let user: FreshDatabase;
let chain: Awaited<ReturnType<typeof startDemoChain>> | undefined;
let cli: Program | undefined;
let gateway: GatewayReader;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  user = await freshDatabase(inject('postgresUrl'), { migrated: false });
  chain = await startDemoChain({
    directory: path.join(workspace.directory, 'demo'),
    // A block of a branch lives as long, so that it is seen on a busy machine too.
    intervalMs: 1_000,
    reorgEveryMs: 2_000,
  });
  const networksFile = path.join(workspace.directory, 'networks.json');
  const upstreams = [{ url: chain.url, ws: chain.url.replace('http', 'ws') }];
  const network = { id: 'demo', family: 'evm', chainId: 31_337, upstreams, bundles: { maxBlocks: 64 } };
  await writeFile(networksFile, JSON.stringify({ networks: [network] }));
  cli = startLocal(workspace, { from: 0, env: { NETWORKS_FILE: networksFile } });
  gateway = await gatewayReader(cli);
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await end(cli);
  await chain?.stop();
  await user?.drop();
  await workspace?.remove();
});

interface LineProgram {
  child: ChildProcess;
  lines: AsyncIterable<string>;
}

/** Starts Node in the folder of the project. */
function startNode(args: readonly string[], env: Record<string, string>): LineProgram {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, PACKHOUSE_API_KEY: gateway.apiKey, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  return { child, lines: createInterface({ input: child.stdout }) };
}

/** The indexer of docs/indexing.md, in a process of its own. */
async function startIndexer(): Promise<LineProgram> {
  const page = await readFile(path.join(root, 'docs/indexing.md'), 'utf8');
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  expect(code.trim().split('\n')).toHaveLength(8);
  const own = code.replace('http://127.0.0.1:8080', new URL(gateway.baseUrl).origin);
  return startNode(['--input-type=module', '-e', own], { DATABASE_URL: user.url });
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  running.delete(child);
}

/** Logs of the chain up to a block, as `block:hash:index`. */
async function chainLogs(to: number, topics: readonly string[]): Promise<string[]> {
  const params = [{ fromBlock: '0x0', toBlock: `0x${to.toString(16)}`, topics }];
  const result = await callNode<{ blockNumber: string; blockHash: string; logIndex: string }[]>(
    `${gateway.baseUrl}${gateway.apiKey}`,
    'eth_getLogs',
    params,
  );
  return result.map((log) => `${Number(log.blockNumber)}:${log.blockHash}:${Number(log.logIndex)}`);
}

async function tableLogs(table: string, to: number): Promise<string[]> {
  const rows = await runSql<{ at: string }>(
    user.url,
    `SELECT block_number || ':' || block_hash || ':' || log_index AS at FROM ${table}
     WHERE block_number <= $1 ORDER BY block_number, log_index`,
    [to],
  );
  return rows.map(({ at }) => at);
}

test('the eight lines of docs/indexing.md fill a Postgres, and survive a reorganisation and a kill', async () => {
  let final = 0;
  let undone = 0;
  for (const isLast of [() => undone > 0, () => undone > 1 && final > 0]) {
    const { child, lines } = await startIndexer();
    let isFound = false;
    for await (const line of lines) {
      const [step, block] = line.split(' ');
      if (step === 'undo') undone += 1;
      if (step === 'final') final = Number(block);
      isFound = isLast() && step === 'blocks';
      if (isFound) break;
    }
    // It does not end by itself.
    expect(isFound).toBe(true);
    await kill(child);
  }
  const rows = await tableLogs('transfers', final);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows).toEqual(await chainLogs(final, [TRANSFER]));
  const [row] = await runSql(
    user.url,
    'SELECT event, arg_value FROM transfers WHERE arg_value IS NOT NULL LIMIT 1',
  );
  expect(row).toMatchObject({ event: 'Transfer' });
});

test('pull --follow is exactly once, whenever it is killed and whenever Postgres drops it', async () => {
  const random = seededRandom(7);
  const format = user.url.replace('?', '&').replace(/$/, '?table=logs');
  const args = [
    'pull',
    gateway.baseUrl,
    '--kinds',
    'logs',
    '--from',
    '0',
    '--follow',
    '--json',
    '--format',
    format,
  ];
  let final = 0;
  for (let n = 0; n <= KILLS; n += 1) {
    const pull = startCli(args, { env: { PACKHOUSE_API_KEY: gateway.apiKey }, cwd: workspace.directory });
    running.add(pull.child);
    const count = random.between(1, 4);
    const isBlocks = ({ event }: ProgramEvent): boolean => event === 'blocks';
    await pull.event('blocks', () => pull.events.filter(isBlocks).length >= count);
    if (n === 0) {
      await runSql(
        user.url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'packhouse follow'",
      );
      const away = await pull.event('away');
      await pull.event('blocks', (event) => pull.events.indexOf(event) > pull.events.indexOf(away));
    }
    if (n === KILLS) {
      await pull.event('undo');
      final = (await pull.event('final')).block as number;
      pull.child.kill('SIGTERM');
      expect(await pull.exit).toBe(143);
    } else {
      pull.child.kill('SIGKILL');
      await pull.exit;
    }
    running.delete(pull.child);
  }
  expect(await tableLogs('logs', final)).toEqual(await chainLogs(final, []));
  expect(
    await runSql(user.url, "SELECT 1 FROM pg_constraint WHERE conrelid = 'logs'::regclass AND contype = 'p'"),
  ).toHaveLength(1);
});

test('packhouse feed prints the steps, and continues behind a cursor', async () => {
  const read = async (args: string[], isLast: (step: Record<string, unknown>) => boolean) => {
    const feed = ['apps/cli/dist/main.js', 'feed', gateway.baseUrl, '--kinds', 'logs,blocks', ...args];
    const { child, lines } = startNode(feed, {});
    const steps: Record<string, unknown>[] = [];
    for await (const line of lines) {
      const step = JSON.parse(line) as Record<string, unknown>;
      steps.push(step);
      if (isLast(step)) break;
    }
    await kill(child);
    return steps;
  };
  const first = await read(['--from', '0'], ({ step }) => step === 'new');
  expect(first[0]).toMatchObject({ step: 'bundle', range: expect.stringMatching(/^0-/) });
  const [next] = await read(['--cursor', String(first[0]?.cursor)], () => true);
  // A cursor has the time at which it was made.
  expect({ ...next, cursor: '' }).toEqual({ ...first[1], cursor: '' });
});

test('new blocks are replaced, and the gateway serves those that took their place', async () => {
  const removed = () =>
    runSql<{ block: number; hash: string }>(
      workspace.databaseUrl,
      `SELECT block::int4 AS block, '0x' || encode(hash, 'hex') AS hash FROM packhouse.abandoned_block ORDER BY block`,
    );
  // The first reorganisation is one block deep, the second two.
  await expect.poll(async () => (await removed()).length, WAIT).toBeGreaterThan(2);
  for (const { block, hash } of await removed()) {
    const present = async (): Promise<string> => {
      const [record] = (await gateway.records((await gateway.pointer('blocks', block)).download_link)) as [
        { hash: string },
      ];
      return record.hash;
    };
    await expect.poll(present, WAIT).not.toBe(hash);
  }
  expect(await runSql(workspace.databaseUrl, 'SELECT * FROM packhouse.alarm')).toEqual([]);
});
