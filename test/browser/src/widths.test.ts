import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chromiumPath, openPage, startChromium, type WatchedPage } from './browser.js';
import { type ConsoleProcess, startConsole } from './console-process.js';
import { fillDatabase, getLink, openDatabase } from './fixture.js';

const executable = chromiumPath();
const LONG = 'x'.repeat(10_000);
/** Each screen, and what opens its form. */
const FORMS: readonly [hash: string, opens: string | null][] = [
  ['backfills/new', null],
  ['schedules', 'New schedule'],
  ['hooks', 'New webhook'],
  ['notifications', 'New channel'],
  ['budgets', 'New budget'],
  ['keys', 'New key'],
  ['plans', null],
  ['operators', 'New operator'],
  ['quarantine', 'Retry a range'],
];
const SCREENS = [
  'overview alarms notifications coverage?network=main files?network=main backfills schedules quarantine',
  'quarantine/main/15500 hooks nodes budgets workers keys plans operators changes start backfills/new',
].flatMap((line) => line.split(' '));
/** The innermost element that sticks out. */
const WIDEST = `[...document.querySelectorAll('main *')].filter((each) =>
  each.getBoundingClientRect().right > document.documentElement.clientWidth + 1).at(-1)?.outerHTML.slice(0, 200)`;
/** Of tabs of one browser: browsers open six connections to a server at most. */
const TABS = 100;

describe.skipIf(executable === null)(
  'long texts, widths, paper and many tabs in Chromium (needs chromium)',
  () => {
    let fresh: FreshDatabase;
    let database: Database;
    let folder: string;
    let server: ConsoleProcess;
    let browser: Browser;
    let ada: WatchedPage;
    let page: Page;

    beforeAll(async () => {
      fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
      database = openDatabase(fresh.url);
      folder = await mkdtemp(path.join(tmpdir(), 'packhouse-browser-'));
      await fillDatabase(database, folder);
      server = await startConsole({ DATABASE_URL: fresh.url });
      browser = await startChromium(executable as string);
      ada = await openPage(browser, server.origin);
      page = ada.page;
      await page.goto(await getLink(database, 'ada'));
      await page.getByText('ada (admin)').waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.kill();
      await database?.close();
      await fresh?.drop();
      if (folder !== undefined) await rm(folder, { recursive: true });
    });

    const show = async (hash: string): Promise<void> => {
      await page.goto(`/#/${hash}`);
      await page.locator('h1').first().waitFor();
      await expect.poll(() => page.locator('p.waiting').count()).toBe(0);
    };
    const getWidth = async (): Promise<number> =>
      Number(await page.evaluate('document.documentElement.scrollWidth'));

    test.each(FORMS)(
      '10,000 characters in every field of %s are refused in one sentence, and fit',
      async (hash, opens) => {
        await page.setViewportSize({ width: 360, height: 740 });
        await show(hash);
        if (opens !== null) await page.getByText(opens, { exact: true }).first().click();
        const opened = page.locator('details[open] > form');
        const form = ((await opened.count()) > 0 ? opened : page.locator('main form:not(.actions)')).last();
        await form.waitFor();
        // As a program of the browser would, which no `maxlength` and no `pattern` stops.
        await form.evaluate((element: { noValidate: boolean }) => {
          element.noValidate = true;
        });
        await form.locator('[maxlength]').evaluateAll((fields: { removeAttribute(name: string): void }[]) => {
          for (const field of fields) field.removeAttribute('maxlength');
        });
        const fields = form.locator(
          'input:not([type=checkbox], [type=radio], [type=number], [type=datetime-local], [type=time]), textarea',
        );
        for (const field of await fields.all()) {
          if ((await field.isVisible()) && (await field.isEditable())) await field.fill(LONG);
        }
        await form.locator('button[type=submit]').click();
        const alert = form.getByRole('alert');
        await alert.waitFor();
        const said = (await alert.textContent()) ?? '';
        expect(said).not.toContain('INTERNAL');
        expect(said.length).toBeLessThan(1_500);
        expect(said).not.toContain('x'.repeat(500));
        expect(await getWidth()).toBe(360);
        await page.setViewportSize({ width: 1280, height: 800 });
        // What the browser notes of each refused request.
        expect(ada.faults.splice(0).filter((fault) => !/status of 4(00|13|22)/.test(fault))).toEqual([]);
      },
    );

    test('what is wrong with a field stands below it', async () => {
      await show('schedules');
      await page.getByText('New schedule').click();
      await page.getByLabel('Name').last().fill('-');
      await page.getByLabel('Command (without packhouse)').fill('audit');
      await page
        .locator('main form')
        .last()
        .evaluate((element: { noValidate: boolean }) => {
          element.noValidate = true;
        });
      await page.locator('main form').last().locator('button[type=submit]').click();
      await page.getByRole('alert').waitFor();
      const wrong = page.locator('[aria-invalid=true]');
      await wrong.first().waitFor();
      expect(await wrong.first().locator('xpath=following-sibling::small').count()).toBe(1);
      ada.faults.length = 0;
    });

    test.each([768, 1_920])('each screen fits a width of %i px', async (width) => {
      await page.setViewportSize({ width, height: 900 });
      const tooWide: string[] = [];
      for (const hash of SCREENS) {
        await show(hash);
        const found = await getWidth();
        if (found > width) tooWide.push(`${hash}: ${found} px: ${await page.evaluate(WIDEST)}`);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(tooWide).toEqual([]);
      expect(ada.faults).toEqual([]);
    });

    test('on paper a screen has no menu, no buttons, light colours, and all of its rows', async () => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      // A4 without its margins.
      await page.setViewportSize({ width: 700, height: 1_000 });
      const faults: string[] = [];
      for (const hash of SCREENS) {
        await show(hash);
        expect(await page.locator('.sidebar, button, form').filter({ visible: true }).count()).toBe(0);
        const found = await getWidth();
        if (found > 700) faults.push(`${hash}: ${found} px: ${await page.evaluate(WIDEST)}`);
        expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
      }
      expect(faults).toEqual([]);
      expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(1_000);
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    test(`of ${TABS} tabs only the one that is seen has a stream, and all of them load`, async () => {
      const context = page.context();
      const streams: Page[] = [];
      context.on('request', (request) => {
        if (request.url().includes('/api/events')) streams.push(request.frame().page());
      });
      const tabs = await Promise.all(
        Array.from({ length: TABS }, async () => {
          const tab = await context.newPage();
          // Pages that a program drives all count as seen.
          await tab.addInitScript({
            content: `Object.defineProperty(document, 'hidden', { get: () => !globalThis.seen, configurable: true })`,
          });
          return tab;
        }),
      );
      for (const tab of tabs) await tab.goto('/#/alarms');
      for (const tab of tabs) await tab.getByRole('heading', { name: 'Alarms' }).waitFor();
      expect(streams.filter((each) => tabs.includes(each))).toEqual([]);
      const last = tabs.at(-1) as Page;
      await last.evaluate(`globalThis.seen = true; document.dispatchEvent(new Event('visibilitychange'))`);
      await expect.poll(() => streams.includes(last)).toBe(true);
      await database.network('main').alarms.raise({ name: 'HALTED', message: 'Seen in the last tab.' });
      await last.getByText('Seen in the last tab.').first().waitFor();
      expect(new Set(streams.filter((each) => tabs.includes(each))).size).toBe(1);
      await Promise.all(tabs.map((tab) => tab.close()));
    });
  },
);
