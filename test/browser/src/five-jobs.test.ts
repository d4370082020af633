import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { chromiumPath, openPage, startChromium } from './browser.js';
import { type ConsoleProcess, startConsole } from './console-process.js';
import { getLink, openDatabase } from './fixture.js';
import { fillShowcase } from './pictures/fill-showcase.js';

const executable = chromiumPath();

/** Each begins at Overview; docs/design/console.md has the clicks. */
describe.skipIf(executable === null)('the five jobs of an operator in Chromium (needs chromium)', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let server: ConsoleProcess;
  let browser: Browser;
  let page: Page;
  let timer: NodeJS.Timeout;
  let clicks = 0;

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = openDatabase(fresh.url);
    const beat = await fillShowcase(database, fresh.url);
    timer = setInterval(() => void beat(), 4_000);
    server = await startConsole({ DATABASE_URL: fresh.url });
    browser = await startChromium(executable as string);
    ({ page } = await openPage(browser, server.origin));
    await page.goto(await getLink(database, 'ada'));
    await page.getByText('ada (admin)').waitFor();
  });
  afterAll(async () => {
    clearInterval(timer);
    await browser?.close();
    await server?.kill();
    await database?.close();
    await fresh?.drop();
  });
  beforeEach(async () => {
    await page.goto('/#/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    clicks = 0;
  });

  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.click();
  };
  const goTo = (screen: string) => click(page.getByRole('link', { name: screen, exact: true }).first());
  const finding = (text: RegExp) => page.getByRole('listitem').filter({ hasText: text }).first();

  test('why a backfill stands still is said without a click', async () => {
    await finding(/No node of base has answered since .*\d\d:\d\d/).waitFor();
    expect(clicks).toBe(0);
  });

  test('a quarantined block is tried again with two clicks', async () => {
    await click(finding(/wrong response for block 17,000,123/).getByRole('link', { name: 'View block' }));
    await click(page.getByRole('button', { name: 'Retry now' }));
    const isDue = async () => {
      const blocks = await database.network('ethereum').quarantine.list({ limit: 10 });
      return blocks.some(({ firstBlock, nextTry }) => firstBlock === 17_000_123 && nextTry <= new Date());
    };
    await expect.poll(isDue).toBe(true);
    expect(clicks).toBe(2);
  });

  test('a provider is capped with two clicks', async () => {
    await goTo('Budgets');
    await click(page.getByLabel('Limit per day of provider-a'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1,000,000');
    await page.keyboard.press('Enter');
    const find = async () =>
      (await database.budgets.list()).find(({ provider }) => provider === 'provider-a')?.perDay;
    await expect.poll(find).toBe(1_000_000);
    expect(clicks).toBe(2);
  });

  test('a key is rotated with three clicks', async () => {
    const [key] = await database.keys.list({ search: 'indexer' });
    await goTo('API keys');
    await click(page.getByRole('link', { name: key?.prefix ?? '' }).first());
    await click(page.getByRole('button', { name: 'Rotate', exact: true }));
    expect(await page.locator('pre').first().textContent()).toMatch(/^ph_[\w-]{20,}$/);
    expect(clicks).toBe(3);
  });

  test('who used what is shown with two clicks', async () => {
    const [key] = await database.keys.list({ search: 'wallet-app' });
    await goTo('API keys');
    await click(page.getByRole('link', { name: key?.prefix ?? '' }).first());
    await page
      .getByRole('region', { name: 'Usage by method' })
      .getByRole('row', { name: /eth_getLogs/ })
      .waitFor();
    expect(clicks).toBe(2);
  });
});
