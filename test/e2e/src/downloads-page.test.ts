import path from 'node:path';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { CliProcess } from './cli-process.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { blocksOf, isOnPath, paste, root } from './pasted.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// The blocks that docs/downloads.md shows, with the addresses of this gateway.
const FIRST = 17_000_100;
const LAST = 17_000_141;
let workspace: Workspace;
let node: ReplayNode;
let cli: CliProcess | undefined;
let gateway: GatewayReader;
let range: string;

beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  const blocks = generateChain({
    length: LAST - FIRST + 1,
    txsPerBlock: 4,
    logsPerTx: 2,
    startNumber: FIRST,
  });
  node = await createReplayNode({ blocks });
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST, once: false });
  gateway = await gatewayReader(cli);
  await cli.event('progress', (event) => event.published === LAST - FIRST + 1);
  ({ range } = await gateway.pointer('logs', 17_000_123));
});
afterAll(async () => {
  await end(cli);
  await node?.close();
  await workspace?.remove();
});

/** What each block of a page prints, those that neither call the gateway nor say where it is left out. */
async function outputs(page: string, shell: string): Promise<string[]> {
  const script = (await blocksOf(page))
    .map(({ text }) => text)
    .filter((text) => /^(HOST=|curl )/.test(text))
    .join('echo; echo next-block\n')
    .replaceAll('http://127.0.0.1:8080', new URL(gateway.baseUrl).origin)
    .replaceAll('17000100-17000141', range)
    .replaceAll(/\bmine\b/g, `mine-${shell}`)
    // This folder is not the project's.
    .replace('npx --no -- packhouse', `node ${path.join(root, 'apps/cli/dist/main.js')}`);
  const { output } = paste(shell, script, { KEY: gateway.apiKey }, workspace.directory);
  return (await output).split('next-block\n');
}

for (const shell of ['bash', 'zsh']) {
  test.skipIf(!isOnPath(shell))(
    `what the pages say about downloads can be pasted into ${shell} (needs ${shell})`,
    async () => {
      for (const page of ['README.md', 'docs/downloads.md']) {
        const [pointer = '', file = '', list, coverage, whole] = await outputs(page, shell);
        const link = `${gateway.downloadUrl}/logs/${range}.json.gz`;
        expect(JSON.parse(pointer)).toEqual({ type: 'logs', range, download_link: link });
        expect(JSON.parse(file)).toEqual(await gateway.records(link));
        if (page === 'README.md') continue;
        expect(JSON.parse(list as string)).toMatchObject({ files: [{ link }], next: null });
        expect(JSON.parse(coverage as string)).toMatchObject({
          network: 'ethereum',
          kinds: [{ kind: 'logs' }],
        });
        expect(whole).toMatch(
          /^\d+ files? (are|is) what was published \(.*\), nothing is damaged, 0 not downloaded; /m,
        );
      }
    },
  );
}
