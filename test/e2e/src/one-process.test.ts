import { type Program, startProgram } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { getChildren } from './processes.js';
import { makeWorkspace, type Workspace } from './workspace.js';

let workspace: Workspace;
let node: ReplayNode;
let env: Record<string, string>;
let service: Program | undefined;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'), { migrated: true });
  node = await createReplayNode({ blocks: generateChain({ length: 4, startNumber: 1_000, seed: 3 }) });
  env = {
    ...workspace.env,
    PATH: process.env.PATH ?? '',
    NETWORKS_FILE: await writeNetworksFile(workspace, node.url, 8),
    OBJECT_STORE: `${workspace.directory}/objects`,
    HOST: '127.0.0.1',
    PORT: '0',
    CONSOLE_PORT: '0',
    METRICS_HOST: '127.0.0.1',
    METRICS_PORT: 'any',
  };
});
afterEach(async () => {
  service?.child.kill('SIGKILL');
  await node.close();
  await workspace.remove();
});

/** Starts `packhouse NAME`, and resolves to the address of its health. */
async function start(name: string, more: Record<string, string> = {}): Promise<string> {
  const program = startProgram('apps/cli/bin/packhouse.js', [name], { env: { ...env, ...more } });
  service = program;
  const port = (): string | undefined =>
    /"port":(\d+),"msg":"serving metrics"/.exec(program.stdout() + program.stderr())?.[1];
  await expect.poll(port).toBeDefined();
  const url = `http://127.0.0.1:${port()}/healthz`;
  await expect.poll(() => status(url)).toBe(200);
  return url;
}

const status = (url: string): Promise<number> =>
  fetch(url).then(
    (answer) => answer.status,
    () => 0,
  );

test.each([
  ['ingester', 'SIGKILL', 'SIGKILL'],
  ['packer', 'SIGTERM', 0],
  ['console', 'SIGINT', 0],
  ['gateway', 'SIGKILL', 'SIGKILL'],
] as const)('packhouse %s is one process, of which %s leaves nothing', async (name, signal, outcome) => {
  const url = await start(name, { GATEWAY_WORKERS: '1' });
  expect(await getChildren((service as Program).pid)).toEqual([]);
  service?.child.kill(signal);
  expect(await service?.exit, service?.stderr()).toBe(outcome);
  expect(await status(url)).toBe(0);
});

test('a gateway of several workers leaves none of them', async () => {
  await start('gateway', { GATEWAY_WORKERS: '2' });
  const { pid } = service as Program;
  await expect.poll(async () => (await getChildren(pid)).length).toBe(2);
  const workers = await getChildren(pid);
  for (const { command } of workers) expect(command).toMatch(/gateway\/dist\/main\.js$/);
  service?.child.kill('SIGKILL');
  for (const worker of workers) await worker.gone();
});
