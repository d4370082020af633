import { freePort, type Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { gatewayReader } from './gateway-reader.js';
import { getChildren } from './processes.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const FIRST = 100;
const LENGTH = 24;
const chain = generateChain({
  length: LENGTH,
  txsPerBlock: 2,
  logsPerTx: 1,
  tracesPerTx: 2,
  seed: 9,
  startNumber: FIRST,
});

let workspaces: Workspace[];
let node: ReplayNode;
let running: Program[];
beforeEach(async () => {
  workspaces = [];
  running = [];
  node = await createReplayNode({ blocks: chain });
});
afterEach(async () => {
  await Promise.all(running.map(end));
  await node.close();
  for (const workspace of workspaces) await workspace.remove();
});

async function workspace(): Promise<Workspace> {
  const made = await makeWorkspace(inject('postgresUrl'));
  workspaces.push(made);
  return made;
}

function start(where: Workspace, ...more: string[]): Program {
  const args = ['local', '--json', '--rpc', node.url, '--from', String(FIRST), '--data-dir', where.directory];
  const cli = startCli([...args, ...more], { env: where.env });
  running.push(cli);
  return cli;
}

const getPort = async (cli: Program): Promise<string> =>
  new URL((await cli.event('ready')).gateway as string).port;

test('of starts in the same moment that want the same port, each takes one and says which', async () => {
  const port = String(await freePort());
  const both = [start(await workspace(), '--port', port), start(await workspace(), '--port', port)];
  const ports = await Promise.all(both.map(getPort));
  expect(new Set(ports).size).toBe(2);
  for (const [at, cli] of both.entries()) {
    const moved = cli.events.filter((event) => event.event === 'port');
    expect(moved.at(-1)?.port ?? Number(port)).toBe(Number(ports[at]));
    await gatewayReader(cli);
  }
  const consoles = await Promise.all(both.map((cli) => cli.event('console')));
  expect(new Set(consoles.map(({ url }) => url)).size).toBe(2);
});

test('of starts in the same moment on one data folder, one works and the others are refused', async () => {
  const where = await workspace();
  const all = Array.from({ length: 3 }, () => start(where, '--to', String(FIRST + LENGTH - 1), '--once'));
  const codes = await Promise.all(all.map((cli) => cli.exit));
  expect(codes.sort(), all.map((cli) => cli.stderr()).join('')).toEqual([0, 75, 75]);
  for (const cli of all.filter((each) => each.stderr() !== '')) {
    expect(cli.stderr()).toMatch(/is in use by process \d+.*\[DATA_DIR_BUSY\]\n$/);
  }
  await checkPublished(where, chain, 'ethereum');
});

test('--once with an end that the chain does not have yet says what it waits for, and ends when it comes', async () => {
  const last = FIRST + LENGTH - 1;
  node.setHead(last - 10);
  const where = await workspace();
  const cli = start(where, '--to', String(last), '--once');
  expect(await cli.event('waiting')).toMatchObject({ block: last, head: last - 10, finalized: last - 10 });
  node.setHead(last);
  expect(await cli.exit, cli.stderr()).toBe(0);
  await checkPublished(where, chain, 'ethereum');
});

test('a start right after a kill waits for what is left of the killed one, and takes the same port', async () => {
  const port = String(await freePort());
  const where = await workspace();
  const to = ['--to', String(FIRST + LENGTH - 1)];
  const first = start(where, '--port', port, ...to);
  const before = await gatewayReader(first);
  await first.event('progress', (event) => (event.published as number) > 0);
  const { download_link: link } = await before.pointer('logs', FIRST);
  const orphans = await getChildren(first.child.pid as number);
  first.child.kill('SIGKILL');
  const second = start(where, '--port', port, ...to);
  expect(await getPort(second)).toBe(port);
  expect((await before.ask(link)).status).toBe(200);
  for (const orphan of orphans) await orphan.gone();
});

test.runIf(process.platform === 'linux')(
  'a data folder in a place where none can be made is refused (needs Linux)',
  async () => {
    const cli = startCli(['local', '--rpc', node.url, '--data-dir', '/proc/packhouse/data']);
    expect(await cli.exit).toBe(73);
    expect(cli.stderr()).toMatch(
      /^packhouse: The data folder \/proc\/packhouse\/data cannot be used: .*--data-dir.*\[DATA_DIR_UNUSABLE\]\n$/,
    );
  },
);
