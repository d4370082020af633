import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openDatabase } from './open-database.js';
import { getChildren } from './processes.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

/** Three windows. */
const LENGTH = 260;
const LAST = 1_000 + LENGTH - 1;
/** So that jobs of a process that was killed are soon another's. */
const env = { JOB_LOCK_MS: '4000' };
let workspace: Workspace;
let node: ReplayNode;
let cli: Program | undefined;
let chain: ReturnType<typeof generateChain>;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  chain = generateChain({
    length: LENGTH,
    txsPerBlock: 6,
    logsPerTx: 2,
    tracesPerTx: 3,
    seed: 7,
    startNumber: 1_000,
  });
  // The last blocks are not there before something was killed: it is killed in the middle on any machine.
  node = await createReplayNode({ blocks: chain, head: LAST - 60, latencyMs: 400 });
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

function start(): Program {
  cli = startLocal(workspace, { rpc: [node.url], from: 1_000, to: LAST, env });
  return cli;
}

test.each(['ingester', 'packer', 'gateway'])(
  'the %s killed in the middle is started again and the range is published once',
  async (name) => {
    const run = start();
    await run.event('progress', (event) => (event.staged as number) > 0);
    const victim = (await getChildren(run.child.pid as number)).find((child) =>
      child.command.includes(`/${name}/`),
    );
    expect(victim, `${name} runs`).toBeDefined();
    process.kill((victim as { pid: number }).pid, 'SIGKILL');
    node.setHead(LAST);
    expect(await run.exit, run.stderr()).toBe(0);
    await checkPublished(workspace, chain, 'ethereum');
  },
);

test('the whole of it killed in the middle, a second start finishes and nothing is published twice', async () => {
  const first = start();
  await first.event('progress', (event) => (event.staged as number) > 0);
  const orphans = await getChildren(first.child.pid as number);
  first.child.kill('SIGKILL');
  expect(await first.exit).toBe('SIGKILL');
  for (const orphan of orphans) await orphan.gone();
  node.setHead(LAST);
  const second = start();
  expect(await second.exit, second.stderr()).toBe(0);
  await checkPublished(workspace, chain, 'ethereum');
});

test('no key and no password reaches a log file', async () => {
  node.setHead(LAST);
  const run = start();
  const ready = await run.event('ready');
  expect(await run.exit, run.stderr()).toBe(0);
  for (const name of ['gateway', 'ingester', 'packer']) {
    const log = await readFile(path.join(workspace.directory, 'logs', `${name}.log`), 'utf8');
    expect(log).not.toContain(ready.apiKey as string);
    expect(log).not.toContain(new URL(workspace.databaseUrl).password || 'no password');
  }
  const database = openDatabase(workspace.databaseUrl);
  expect((await database.keys.list()).map((row) => row.prefix)).toEqual([
    (ready.apiKey as string).slice(0, 11),
  ]);
  await database.close();
});
