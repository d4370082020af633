import { KINDS } from '@packhouse/chain';
import { createReplayNode, forkChain, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { makeWorkspace, type Workspace } from './workspace.js';

// A chain with Amsterdam's header fields from its tenth block on, and from its twentieth with one that nobody knows.
const FIRST = 1_000;
const LAST = FIRST + 29;
const INVENTED = FIRST + 20;
const chain = generateChain({ txsPerBlock: 3, logsPerTx: 2, tracesPerTx: 2, length: 30, startNumber: FIRST });
const forked = (as: 'appended' | 'hashed') =>
  forkChain(chain, { amsterdam: FIRST + 10, invented: INVENTED, as });
const TIME_MS = 240_000;

let workspace: Workspace;
const nodes: ReplayNode[] = [];
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
  await workspace.remove();
});

/** Packs the chain from two upstreams; returns the exit code and what `packhouse status` says then. */
async function packed(blocks: ReturnType<typeof forked>): Promise<{ code: unknown; status: string }> {
  for (let i = 0; i < 2; i++) nodes.push(await createReplayNode({ blocks }));
  const run = startLocal(workspace, { rpc: nodes.map(({ url }) => url), from: FIRST, to: LAST });
  const code = await run.exit;
  const shown = startCli(['status', '--data-dir', workspace.directory], { env: workspace.env });
  expect(await shown.exit, shown.stderr()).toBe(0);
  return { code, status: shown.stdout() };
}

test('a fork whose new field the hash proves is published whole, and named', {
  timeout: TIME_MS,
}, async () => {
  const blocks = forked('appended');
  const { code, status } = await packed(blocks);
  expect(code).toBe(0);
  await checkPublished(workspace, blocks, 'ethereum');
  expect(status).toMatch(/FIELDS_UNKNOWN/);
  expect(status).toMatch(/headers have fields that are new to this version \(inventedRoot\)/);
  expect(status).not.toMatch(/ waiting, /);
});

test('a fork whose hash this version cannot make is one range with its cause, behind what is published', {
  timeout: TIME_MS,
}, async () => {
  const { code, status } = await packed(forked('hashed'));
  expect(code).toBe(2);
  const lines = status.split('\n').filter((line) => line.includes(' waiting, '));
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(
        `^ethereum: blocks ${INVENTED}-${LAST} \\(all kinds\\) waiting, .* Block ${INVENTED}: its header has the field inventedRoot, .* agree byte for byte, so the fork is unknown to this version\\.$`,
      ),
    ),
  ]);
  expect(status).toMatch(/FORK_UNKNOWN/);
  for (const kind of KINDS) {
    expect(status).toMatch(new RegExp(`^ethereum +${kind} +30 +0 +20 +10 `, 'm'));
  }
});
