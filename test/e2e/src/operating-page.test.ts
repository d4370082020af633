import path from 'node:path';
import { freePort, type Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { narrow, pastedOfSection } from './page-section.js';
import { paste, pattern, root } from './pasted.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const CLI = path.join(root, 'apps/cli/dist/main.js');
let workspace: Workspace;
let shell: ReturnType<typeof paste> | undefined;
let cli: Program | undefined;
const nodes: ReplayNode[] = [];
const sepolia = generateChain({ length: 12, chainId: 11_155_111 });

beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  nodes.push(await createReplayNode({ blocks: generateChain({ length: 2 }) }));
  nodes.push(await createReplayNode({ blocks: sepolia, chainId: 11_155_111 }));
});
afterAll(async () => {
  shell?.end();
  await end(cli);
  for (const node of nodes) await node.close();
  await workspace?.remove();
});

async function run(text: string): Promise<string> {
  const script = `packhouse() { node ${CLI} "$@"; }\n${text}`
    .replaceAll('http://127.0.0.1:9201', nodes[0]?.url as string)
    .replaceAll('http://127.0.0.1:9202', nodes[1]?.url as string);
  shell = paste('bash', script, workspace.env, workspace.directory);
  return shell.output;
}

test('the day of an operator goes as docs/operating.md says', async () => {
  const [, first, ...others] = await pastedOfSection('docs/operating.md', 'A day of an operator');
  const [file = '', start] = (first?.text ?? '').split(/(?<=^END\n)/m);
  expect(start).toBe('NETWORKS_FILE=networks.yaml packhouse local\n');
  await run(file);
  cli = startCli(['local', '--json', '--data-dir', workspace.directory, '--port', String(await freePort())], {
    env: { ...workspace.env, NETWORKS_FILE: path.join(workspace.directory, 'networks.yaml') },
  });
  await cli.event('ready');
  const said = await run(others.map(({ text }) => `${text}echo next-block\n`).join(''));
  const outputs = said.split('next-block\n');
  for (const [at, { text, answers }] of others.entries()) {
    const lines = narrow(outputs[at] as string);
    expect(lines, text).toHaveLength(answers.length);
    for (const [line, answer] of answers.entries()) expect(lines[line], text).toMatch(pattern(answer));
  }
  await checkPublished(workspace, sepolia, 'sepolia');
});
