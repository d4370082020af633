import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
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
import { SCREENS } from './pictures/screens.js';

/** Where they go; without it there is nothing to do. */
const folder = process.env.PICTURES;
const executable = chromiumPath();
const WIDTHS = (process.env.PICTURE_WIDTHS ?? '1440,1024,360').split(',').map(Number);
const HEIGHTS: Readonly<Record<number, number>> = { 360: 740, 1024: 768 };
/** Of WebP: text stays sharp at a fifth of the bytes of a PNG. */
const QUALITY = 70;

describe.skipIf(executable === null || folder === undefined)(
  'pictures of the console (needs PICTURES and chromium)',
  () => {
    let fresh: FreshDatabase;
    let database: Database;
    let server: ConsoleProcess;
    let browser: Browser;
    let timer: NodeJS.Timeout;
    /** That of ada, one without a session, and that of the holder of a key. */
    let page: Page;
    let stranger: Page;
    let holder: Page;
    const target = path.resolve(fileURLToPath(new URL('../../../', import.meta.url)), folder ?? '');

    beforeAll(async () => {
      mkdirSync(target, { recursive: true });
      fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
      database = openDatabase(fresh.url);
      const beat = await fillShowcase(database, fresh.url);
      timer = setInterval(() => void beat(), 4_000);
      server = await startConsole({ DATABASE_URL: fresh.url });
      browser = await startChromium(executable as string);
      [page, stranger, holder] = (
        await Promise.all([1, 2, 3].map(() => openPage(browser, server.origin)))
      ).map(({ page: each }) => each) as [Page, Page, Page];
      await page.goto(await getLink(database, 'ada'));
      await page.getByText('ada').first().waitFor();
      await stranger.goto('/');
      await stranger.getByLabel('Password').waitFor();
      const { key } = await database.keys.create({
        application: 'wallet-app',
        network: null,
        plan: 'standard',
      });
      await holder.goto('/');
      await holder.getByLabel('API key').fill(key);
      await holder.keyboard.press('Enter');
      await holder.locator('h1', { hasNotText: 'Packhouse' }).waitFor();
    });
    afterAll(async () => {
      clearInterval(timer);
      await browser?.close();
      await server?.kill();
      await database?.close();
      await fresh?.drop();
    });

    const settled = async (shown: Page): Promise<void> => {
      await shown.locator('h1').first().waitFor();
      await expect.poll(() => shown.locator('p.waiting').count()).toBe(0);
      // The progress of backfills comes after their list.
      await expect.poll(() => shown.locator('td', { hasText: /^…$/ }).count()).toBe(0);
      // So do the sparklines, of what was sampled.
      if ((await shown.locator('td button.curve').count()) > 0) {
        await shown
          .locator('td button.curve svg')
          .first()
          .waitFor({ timeout: 5_000 })
          .catch(() => undefined);
      }
    };
    const take = async (shown: Page, name: string): Promise<void> => {
      await shown.mouse.move(1, 1);
      const session = await shown.context().newCDPSession(shown);
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      await session.detach();
      await writeFile(path.join(target, `${name}.webp`), Buffer.from(data, 'base64'));
    };

    test.each(['light', 'dark'] as const)('%s', { timeout: 900_000 }, async (colorScheme) => {
      const asked = process.env.PICTURE_SCREENS?.split(',');
      const isAsked = (name: string): boolean => asked === undefined || asked.includes(name);
      const [key] = await database.keys.list({ search: 'wallet-app' });
      for (const each of [page, stranger, holder]) {
        await each.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      }
      for (const width of WIDTHS) {
        const size = { width, height: HEIGHTS[width] ?? 900 };
        await page.setViewportSize(size);
        for (const [name, { hash, act }] of Object.entries(SCREENS)) {
          if (!isAsked(name)) continue;
          await page.goto(`/#/${hash.replace(':key', key?.prefix ?? '')}`);
          await settled(page);
          await act?.(page);
          await take(page, `${name}-${colorScheme}-${width}`);
          if (act !== undefined) await page.keyboard.press('Escape');
        }
        for (const [name, shown] of [
          ['sign-in', stranger],
          ['own', holder],
        ] as const) {
          if (!isAsked(name)) continue;
          await shown.setViewportSize(size);
          await settled(shown);
          await take(shown, `${name}-${colorScheme}-${width}`);
        }
      }
    });
  },
);
