import type { Kind } from '@packhouse/chain';
import type { Program, ProgramEvent } from '@packhouse/local';
import { createReplayNode, generateChain, type RecordedBlock, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { writeNetworksFile } from './networks-file.js';
import { canonical, checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// Following the head, with blocks that are not final yet: every link that was handed out keeps its word.
const FIRST = 1_000;
const OPTIONS = { txsPerBlock: 4, logsPerTx: 2, tracesPerTx: 3 };
const trunk = generateChain({ ...OPTIONS, length: 35, seed: 21, startNumber: FIRST });
/** The block of a chain by its number. */
const at = (chain: readonly RecordedBlock[], number: number): RecordedBlock =>
  chain[number - FIRST] as RecordedBlock;

let workspace: Workspace;
let node: ReplayNode;
let cli: Program;
let gateway: GatewayReader;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({ blocks: trunk, head: 1_019, finalized: 1_009 });
  const networksFile = await writeNetworksFile(workspace, node.url, 8);
  cli = startLocal(workspace, { from: FIRST, env: { NETWORKS_FILE: networksFile } });
  gateway = await gatewayReader(cli);
  await cli.event('progress', reached('staged', 1_019));
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

const reached =
  (field: 'staged' | 'published', number: number) =>
  (event: ProgramEvent): boolean =>
    (event[field] as number) >= number - FIRST + 1;

/** The link of a block that is staged and not packed, followed once. */
async function newLink(kind: Kind, number: number): Promise<string> {
  const { range, download_link } = await gateway.pointer(kind, number);
  expect(range).toBe(`${number}-${number}`);
  expect(await gateway.records(download_link)).toEqual([canonical(at(trunk, number), kind)]);
  return download_link;
}

const WAIT = { timeout: 120_000, interval: 50 };

test('a reorganisation: the link of a removed block says so, before and after another takes its place', async () => {
  const branch = [
    ...trunk.slice(0, 12),
    ...generateChain({
      ...OPTIONS,
      length: 14,
      seed: 22,
      after: {
        number: 1_011,
        hash: at(trunk, 1_011).block.hash,
        timestamp: Number(at(trunk, 1_011).block.timestamp),
      },
    }),
  ];
  const [kept, replaced, removed] = [
    await newLink('blocks', 1_010),
    await newLink('blocks', 1_013),
    await newLink('blocks', 1_018),
  ];
  const status = async (link: string): Promise<number> => (await gateway.ask(link)).status;

  node.setBlocks(branch, 1_015);
  await expect.poll(() => status(removed), WAIT).toBe(410);
  const answer = await gateway.ask(removed);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(await answer.json()).toMatchObject({
    status: 410,
    reason: 'reorganised',
    hash: at(trunk, 1_018).block.hash,
  });
  // A link means one block; what took its place has a link of its own.
  await expect.poll(() => status(replaced), WAIT).toBe(410);
  const other = at(branch, 1_013).block.hash;
  await expect
    .poll(async () => (await gateway.ask(replaced)).json(), WAIT)
    .toMatchObject({
      hash: at(trunk, 1_013).block.hash,
      replacedBy: other,
    });
  expect((await gateway.pointer('blocks', 1_013)).download_link).toContain(other);
  expect(await gateway.records(kept)).toEqual([canonical(at(trunk, 1_010), 'blocks')]);
  const beyond = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/blocks/1018`);
  expect([beyond.status, await beyond.json()]).toMatchObject([
    410,
    { reason: 'reorganised', block: 1_018, hash: at(trunk, 1_018).block.hash },
  ]);
  const never = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/blocks/1020`);
  expect([never.status, await never.json()]).toMatchObject([404, { reason: 'not-produced', head: 1_015 }]);

  node.setHead(1_023);
  const now = async (): Promise<string> => (await gateway.pointer('blocks', 1_018)).download_link;
  await expect.poll(now, WAIT).toContain(at(branch, 1_018).block.hash);
  const taken = await now();
  expect(await status(removed)).toBe(410);

  await cli.event('progress', reached('staged', 1_023));
  node.setFinalized(1_023);
  await cli.event('progress', reached('published', 1_023));
  await checkPublished(workspace, branch.slice(0, 24), 'main');
  expect(await gateway.records(taken)).toEqual([canonical(at(branch, 1_018), 'blocks')]);
  expect(await status(removed)).toBe(410);
});
