import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase } from '@packhouse/database';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type CliProcess, startCli } from './cli-process.js';
import { childrenOf } from './processes.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const LENGTH = 400;
let workspace: Workspace;
let node: ReplayNode;
let cli: CliProcess | undefined;
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
  node = await createReplayNode({ blocks: chain, latencyMs: 5 });
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

function start(): CliProcess {
  const args = [
    'local',
    '--rpc',
    node.url,
    '--from',
    '1000',
    '--to',
    String(1_000 + LENGTH - 1),
    '--once',
    '--json',
  ];
  cli = startCli([...args, '--data-dir', workspace.directory], { env: workspace.env });
  return cli;
}

test.each(['ingester', 'packer', 'gateway'])(
  'the %s killed in the middle is started again and the range is published once',
  async (name) => {
    const run = start();
    await run.event('progress', (event) => (event.staged as number) > 0);
    const victim = (await childrenOf(run.child.pid as number)).find((child) =>
      child.command.includes(`/${name}/`),
    );
    expect(victim, `${name} runs`).toBeDefined();
    process.kill((victim as { pid: number }).pid, 'SIGKILL');
    expect(await run.exit, run.stderr()).toBe(0);
    await checkPublished(workspace, chain, 'ethereum');
  },
);

test('the whole of it killed in the middle, a second start finishes and nothing is published twice', async () => {
  const first = start();
  await first.event('progress', (event) => (event.staged as number) > 0);
  const orphans = await childrenOf(first.child.pid as number);
  first.child.kill('SIGKILL');
  expect(await first.exit).toBe('SIGKILL');
  for (const orphan of orphans) await orphan.gone();
  const second = start();
  expect(await second.exit, second.stderr()).toBe(0);
  await checkPublished(workspace, chain, 'ethereum');
});

test('no key and no password reaches a log file', async () => {
  const run = start();
  const ready = await run.event('ready');
  expect(await run.exit, run.stderr()).toBe(0);
  for (const name of ['gateway', 'ingester', 'packer']) {
    const log = await readFile(path.join(workspace.directory, 'logs', `${name}.log`), 'utf8');
    expect(log).not.toContain(ready.apiKey as string);
    expect(log).not.toContain(new URL(workspace.databaseUrl).password || 'no password');
  }
  const database = createDatabase({
    connectionString: workspace.databaseUrl,
    context: {
      logger: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
      clock: systemClock,
      signal: new AbortController().signal,
    },
    applicationName: 'test',
  });
  expect((await database.keys.list()).map((row) => row.prefix)).toEqual([
    (ready.apiKey as string).slice(0, 11),
  ]);
  await database.close();
});
