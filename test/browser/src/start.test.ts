import { randomUUID } from 'node:crypto';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getFindings } from './browser.js';
import { addAda } from './fixture.js';
import { toReports } from './pictures/fill-showcase.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const FIRST = 1_000;
const PROCESS = randomUUID();

describe.skipIf(WITHOUT_CHROMIUM)('the first run in Chromium (needs chromium)', () => {
  const env = { PUBLIC_URL: 'https://data.example.com' };
  const at = usePages(({ database }) => addAda(database), { env });
  let node: ReplayNode;
  let timer: NodeJS.Timeout;

  beforeAll(async () => {
    node = await createReplayNode({ blocks: generateChain({ length: 24, startNumber: FIRST, seed: 5 }) });
  });
  afterAll(async () => {
    clearInterval(timer);
    await node?.close();
  });

  /** Reports are forgotten after 15 seconds. */
  const report = (): Promise<unknown> => {
    const [row] = toReports({ id: 'main', head: 1_023, nodes: [{ name: 'upstream-1' }] });
    const ingester = { process: PROCESS, role: 'ingester', host: 'a' } as const;
    return at.database.nodes.report(ingester, row === undefined ? [] : [row]);
  };

  test('leads from a node, tested live, over a backfill and a key to the line that downloads', async () => {
    const { database, page } = at;
    const test = page.getByRole('button', { name: 'Test', exact: true });
    await page.getByLabel('JSON-RPC address').fill('http://127.0.0.1:1/s3cret');
    await page.getByLabel('Network (').fill('main');
    await test.click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).not.toContain('s3cret');
    await page.getByLabel('JSON-RPC address').fill(node.url);
    await test.click();
    await page.getByRole('region', { name: 'Result' }).getByText('Chain 1, head 1,023').waitFor();
    expect(await page.locator('pre').textContent()).toContain(`url: ${JSON.stringify(node.url)}`);
    await page.getByText('No ingester is running.').waitFor();
    expect(await getFindings(page)).toEqual([]);

    // As an ingester does that has read the lines.
    await database.networks.register({ id: 'main', chainId: 1 });
    await report();
    timer = setInterval(() => void report(), 4_000);
    await page.getByText('upstream-1 of main answers, head 1,023').waitFor({ state: 'attached' });
    await page.getByLabel('First block').fill(String(FIRST));
    await page.getByRole('button', { name: 'Create', exact: true }).first().click();
    await page.getByText('Backfill 1 of main').waitFor({ state: 'attached' });

    await page.getByText('New key').click();
    await page.getByLabel('Application').fill('first');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('No complete blocks of main yet.').waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
    await page.getByRole('link', { name: 'Get started' }).click();
    await page.getByText('exists already').waitFor({ state: 'attached' });
    expect(await getFindings(page)).toEqual([]);
    expect(at.faults.splice(0).filter((fault) => !/status of (4|5)\d\d/.test(fault))).toEqual([]);
  });
});
