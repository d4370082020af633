import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type FreshDatabase, freshDatabase, type Program, startProgram } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chromiumPath, openPage, startChromium } from './browser.js';
import { SCREENSHOTS, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const FIRST = 1_000;
const LENGTH = 24;
const LIE = FIRST + 12;
const chain = generateChain({
  length: LENGTH,
  startNumber: FIRST,
  seed: 5,
  txsPerBlock: 2,
  logsPerTx: 2,
  tracesPerTx: 2,
});

describe.skipIf(WITHOUT_CHROMIUM)('an operator with a browser (needs chromium)', () => {
  let folder: string;
  let fresh: FreshDatabase;
  let liar: ReplayNode;
  let honest: ReplayNode;
  let local: Program;
  let browser: Browser;

  // Bundles of one block: none waits for its neighbours.
  const networksFile = (): string => path.join(folder, 'networks.yaml');
  const writeNetworks = (...nodes: ReplayNode[]): Promise<void> =>
    writeFile(
      networksFile(),
      `networks:\n  - id: main\n    family: evm\n    chainId: 1\n    pollIntervalMs: 200\n    bundles:\n      maxBlocks: 1\n    upstreams:\n${nodes.map(({ url }) => `      - url: ${url}\n`).join('')}`,
    );

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'packhouse-story-'));
    fresh = await freshDatabase(inject('postgresUrl'));
    const lie = { path: [0, 'gasUsed'], value: '0x1' };
    liar = await createReplayNode({
      blocks: chain,
      faults: [{ do: 'tamper', when: { method: 'eth_getBlockReceipts', block: LIE }, ...lie }],
    });
    honest = await createReplayNode({ blocks: chain });
    await writeNetworks(liar);
    const range = ['--from', String(FIRST), '--to', String(FIRST + LENGTH - 1)];
    local = startProgram('apps/cli/dist/main.js', ['local', '--json', '--data-dir', folder, ...range], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        DATABASE_URL: fresh.url,
        NETWORKS_FILE: networksFile(),
        CONSOLE_PORT: '0',
      },
    });
    browser = await startChromium(chromiumPath() as string);
  });
  afterAll(async () => {
    await browser?.close();
    await local?.stop();
    await Promise.all([liar?.close(), honest?.close()]);
    await fresh?.drop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  test('sees the block that a node lies about, adds another node, tries again, and all is green', async () => {
    const { url, link } = (await local.event('console')) as unknown as { url: string; link: string };
    const { page, faults } = await openPage(browser, url);
    await page.goto(link);
    await page.getByRole('row', { name: 'main' }).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}story-overview.png` });

    await page.getByRole('link', { name: 'Coverage', exact: true }).click();
    const hole = page
      .getByRole('region', { name: 'Holes' })
      .getByRole('row')
      .filter({ hasText: 'receipts' })
      .filter({ hasText: 'PROOF_FAILED' });
    await hole.waitFor();
    // Everything else is published by now, or soon.
    const others = page
      .getByRole('region', { name: 'Holes' })
      .locator('tbody tr')
      .filter({ hasNotText: 'PROOF_FAILED' });
    await expect.poll(() => others.allTextContents()).toEqual([]);
    await page.screenshot({ path: `${SCREENSHOTS}story-lie.png` });

    await page.goto(`/#/quarantine/main/${LIE}`);
    await page.getByText('PROOF_FAILED').first().waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}story-quarantine.png` });

    await writeNetworks(liar, honest);
    await expect.poll(() => honest.stats().calls).toBeGreaterThan(0);
    await page.goto('/#/coverage?network=main');
    const done = page.getByText('All of these blocks are published.');
    // Each process reads the networks file by itself: the first try may be the ingester's last without the new node.
    await expect
      .poll(
        async () => {
          const retry = hole.getByRole('button', { name: 'Retry now' });
          if (await retry.isVisible()) await retry.click({ timeout: 5_000 }).catch(() => undefined);
          return done.isVisible();
        },
        { interval: 2_000 },
      )
      .toBe(true);
    await page.screenshot({ path: `${SCREENSHOTS}story-green.png` });
    // A later click may find that the block is staged by then.
    expect(faults.filter((fault) => !fault.endsWith('/api/quarantine/retry'))).toEqual([]);
  });
});
