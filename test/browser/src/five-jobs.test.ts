import type { Locator } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { fillShowcase } from './pictures/fill-showcase.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

/** Each begins at Overview; docs/design/console.md has the clicks. */
describe.skipIf(WITHOUT_CHROMIUM)('the five jobs of an operator in Chromium (needs chromium)', () => {
  const at = usePages(({ database, databaseUrl }) => fillShowcase(database, databaseUrl));
  let clicks = 0;
  beforeEach(async () => {
    await at.page.goto('/#/overview');
    await at.page.getByRole('heading', { name: 'Overview' }).waitFor();
    clicks = 0;
  });

  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.click();
  };
  const goTo = (screen: string) => click(at.page.getByRole('link', { name: screen, exact: true }).first());
  const finding = (text: RegExp) => at.page.getByRole('listitem').filter({ hasText: text }).first();

  test('why a backfill stands still is said without a click', async () => {
    await finding(/No node of base has answered since .*\d\d:\d\d/).waitFor();
    expect(clicks).toBe(0);
  });

  test('a quarantined block is tried again with two clicks', async () => {
    await click(finding(/wrong response for block 17,000,123/).getByRole('link', { name: 'View block' }));
    await click(at.page.getByRole('button', { name: 'Retry now' }));
    const isDue = async () => {
      const blocks = await at.database.network('ethereum').quarantine.list({ limit: 10 });
      return blocks.some(({ firstBlock, nextTry }) => firstBlock === 17_000_123 && nextTry <= new Date());
    };
    await expect.poll(isDue).toBe(true);
    expect(clicks).toBe(2);
  });

  test('a provider is capped with two clicks', async () => {
    await goTo('Budgets');
    await click(at.page.getByLabel('Limit per day of provider-a'));
    await at.page.keyboard.press('Control+a');
    await at.page.keyboard.type('1,000,000');
    await at.page.keyboard.press('Enter');
    const find = async () =>
      (await at.database.budgets.list()).find(({ provider }) => provider === 'provider-a')?.perDay;
    await expect.poll(find).toBe(1_000_000);
    expect(clicks).toBe(2);
  });

  test('a key is rotated with three clicks', async () => {
    const [key] = await at.database.keys.list({ search: 'indexer' });
    await goTo('API keys');
    await click(at.page.getByRole('link', { name: key?.prefix ?? '' }).first());
    await click(at.page.getByRole('button', { name: 'Rotate', exact: true }));
    expect(await at.page.locator('pre').first().textContent()).toMatch(/^ph_[\w-]{20,}$/);
    expect(clicks).toBe(3);
  });

  test('who used what is shown with two clicks', async () => {
    const [key] = await at.database.keys.list({ search: 'wallet-app' });
    await goTo('API keys');
    await click(at.page.getByRole('link', { name: key?.prefix ?? '' }).first());
    await at.page
      .getByRole('region', { name: 'Usage by method' })
      .getByRole('row', { name: /eth_getLogs/ })
      .waitFor();
    expect(clicks).toBe(2);
  });
});
