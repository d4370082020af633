import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chromiumPath, openPage, startChromium } from './browser.js';
import { type ConsoleProcess, startConsole } from './console-process.js';
import { getLink, openDatabase } from './fixture.js';
import { fillShowcase } from './pictures/fill-showcase.js';

/** Where they go; without it there is nothing to do. */
const folder = process.env.PICTURES;
const executable = chromiumPath();
const WIDTHS = (process.env.PICTURE_WIDTHS ?? '1440,820,360').split(',').map(Number);
const SCREENS: Readonly<Record<string, string>> = {
  overview: 'overview',
  coverage: 'coverage?network=ethereum',
  backfills: 'backfills',
  backfill: 'backfills/1',
  'new-backfill': 'backfills/new?network=ethereum',
  schedules: 'schedules',
  quarantine: 'quarantine',
  block: 'quarantine/ethereum/17000123',
  files: 'files?network=ethereum',
  nodes: 'nodes',
  budgets: 'budgets',
  workers: 'workers',
  keys: 'keys',
  alarms: 'alarms',
  notifications: 'notifications',
  hooks: 'hooks',
  hook: 'hooks/1',
  changes: 'changes',
};

describe.skipIf(executable === null || folder === undefined)('pictures of the console', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let server: ConsoleProcess;
  let browser: Browser;
  let page: Page;
  let timer: NodeJS.Timeout;

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = openDatabase(fresh.url);
    const beat = await fillShowcase(database, fresh.url);
    timer = setInterval(() => void beat(), 4_000);
    server = await startConsole({ DATABASE_URL: fresh.url });
    browser = await startChromium(executable as string);
    ({ page } = await openPage(browser, server.origin));
    await page.goto(await getLink(database, 'ada'));
    await page.getByText('ada').first().waitFor();
  });
  afterAll(async () => {
    clearInterval(timer);
    await browser?.close();
    await server?.kill();
    await database?.close();
    await fresh?.drop();
  });

  test.each(['light', 'dark'] as const)('%s', { timeout: 600_000 }, async (colorScheme) => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const target = path.resolve(root, folder ?? '');
    mkdirSync(target, { recursive: true });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const asked = process.env.PICTURE_SCREENS?.split(',');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 500 ? 740 : 900 });
      for (const [name, hash] of Object.entries(SCREENS)) {
        if (asked !== undefined && !asked.includes(name)) continue;
        await page.goto(`/#/${hash}`);
        await page.locator('h1').first().waitFor();
        await expect.poll(() => page.locator('p.waiting').count()).toBe(0);
        // The progress of backfills comes after their list.
        await expect.poll(() => page.locator('td', { hasText: /^…$/ }).count()).toBe(0);
        await page.screenshot({ path: path.join(target, `${name}-${colorScheme}-${width}.png`) });
      }
    }
  });
});
