import { randomUUID } from 'node:crypto';
import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase, runSql, silentContext } from '@packhouse/local';
import { addOperator } from '@packhouse/operations';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chromiumPath, openPage, startChromium, type WatchedPage } from './browser.js';
import { type ConsoleProcess, startConsole } from './console-process.js';
import { getLink, openDatabase } from './fixture.js';

const executable = chromiumPath();
const NODES = 900;
/** Rows of a table of 900 that may be in the page. */
const MAX_ROWS = 150;

describe.skipIf(executable === null)('long lists in Chromium (needs chromium)', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let server: ConsoleProcess;
  let browser: Browser;
  let ada: WatchedPage;

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = openDatabase(fresh.url);
    await addOperator.run(
      { context: silentContext(), database, actor: 'test' },
      { name: 'ada', role: 'operator' },
    );
    await database.networks.register({ id: 'main', chainId: 1 });
    await fillNodes();
    server = await startConsole({ DATABASE_URL: fresh.url });
    browser = await startChromium(executable as string);
    ada = await openPage(browser, server.origin);
    await ada.page.goto(await getLink(database, 'ada'));
    await ada.page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    await database?.close();
    await fresh?.drop();
  });

  /** Reports that stay fresh. */
  async function fillNodes(): Promise<void> {
    const report = {
      state: 'ok' as const,
      client: null,
      head: 7,
      inFlight: 0,
      maxInFlight: 8,
      invalidResponses: 0,
      leftOut: null,
      throttledBy: null,
      methods: [],
      errors: [],
      lastError: null,
      failingForMs: null,
      capabilities: ['blocks'],
      missingCapabilities: [],
    };
    const rows = Array.from({ length: NODES }, (_, at) => {
      const name = `node-${String(at).padStart(3, '0')}`;
      return { network: 'main', upstream: name, provider: name, report };
    });
    await database.nodes.report({ process: randomUUID(), role: 'ingester', host: 'here' }, rows);
    await runSql(fresh.url, `UPDATE packhouse.node_report SET seen_at = now() + interval '1 hour'`);
  }

  test('of 900 nodes those in sight are in the page, and the others when one scrolls there', async () => {
    const { page, faults } = ada;
    await page.goto(`${server.origin}/#/nodes`);
    const table = page.getByRole('region', { name: 'Nodes' });
    const rows = table.locator('tr[aria-rowindex]');
    const node = (name: string) => table.getByText(name, { exact: true });
    await node('node-000').first().waitFor();
    expect(await table.locator('table').getAttribute('aria-rowcount')).toBe(String(NODES + 1));
    expect(await rows.count()).toBeLessThan(MAX_ROWS);
    expect(await node('node-899').count()).toBe(0);
    // A page has its whole height from the first on; what is measured meanwhile moves the end.
    await expect
      .poll(async () => {
        await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
        return node('node-899').count();
      })
      .toBeGreaterThan(0);
    expect(await rows.count()).toBeLessThan(MAX_ROWS);
    expect(await node('node-000').count()).toBe(0);
    await page.evaluate('window.scrollTo(0, 0)');
    await node('node-000').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    await expect.poll(() => rows.count()).toBe(NODES);
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    await expect.poll(() => rows.count()).toBeLessThan(MAX_ROWS);
    expect(faults).toEqual([]);
  });

  test('backfills are filtered by state, done ones too, and by owner, and the address says so', async () => {
    const { page, faults } = ada;
    const { backfills } = database.network('main');
    const terms = { kinds: ['logs'], priority: 5 } as const;
    const done = await backfills.add({ ...terms, from: 0, to: 9, owner: 'team' });
    const open = await backfills.add({ ...terms, from: 10, to: 19 });
    await runSql(
      fresh.url,
      `UPDATE packhouse.backfill SET done = true, done_at = now() WHERE id = ${done.id}`,
    );
    await page.goto(`${server.origin}/#/backfills`);
    const link = ({ id }: { id: number }) =>
      page.getByRole('region', { name: 'Backfills' }).getByRole('link', { name: String(id), exact: true });
    await link(open).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await link(done).waitFor();
    await expect.poll(() => link(open).count()).toBe(0);
    expect(page.url()).toContain('state=done');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await link(open).waitFor();
    await page.getByLabel('Owner').selectOption('team');
    await expect.poll(() => link(open).count()).toBe(0);
    expect(await link(done).count()).toBe(1);
    expect(page.url()).toContain('owner=team');
    expect(faults).toEqual([]);
  });
});
