import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillShowcase } from './pictures/fill-showcase.js';
import { SCREENS } from './pictures/screens.js';
import { settle, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

/** Where they go; without it there is nothing to do. */
const folder = process.env.PICTURES;
const WIDTHS = (process.env.PICTURE_WIDTHS ?? '1440,1024,360').split(',').map(Number);
const HEIGHTS: Readonly<Record<number, number>> = { 360: 740, 1024: 768 };
/** Of WebP: text stays sharp at a fifth of the bytes of a PNG. */
const QUALITY = 70;

describe.skipIf(WITHOUT_CHROMIUM || folder === undefined)(
  'pictures of the console (needs PICTURES and chromium)',
  () => {
    const at = usePages(({ database, databaseUrl }) => fillShowcase(database, databaseUrl));
    /** One without a session, and that of the holder of a key. */
    let stranger: Page;
    let holder: Page;
    const target = path.resolve(fileURLToPath(new URL('../../../', import.meta.url)), folder ?? '');

    beforeAll(async () => {
      mkdirSync(target, { recursive: true });
      [stranger, holder] = [(await at.open()).page, (await at.open()).page];
      await stranger.goto('/');
      await stranger.getByLabel('Password').waitFor();
      const application = { application: 'wallet-app', network: null, plan: 'standard' };
      const { key } = await at.database.keys.create(application);
      await holder.goto('/');
      await holder.getByLabel('API key').fill(key);
      await holder.keyboard.press('Enter');
      await holder.locator('h1', { hasNotText: 'Packhouse' }).waitFor();
    });

    const settled = async (shown: Page): Promise<void> => {
      await settle(shown);
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
      const { database, page } = at;
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
