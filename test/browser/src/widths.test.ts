import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fillDatabase } from './fixture.js';
import { settle, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

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

describe.skipIf(WITHOUT_CHROMIUM)(
  'long texts, widths, paper and many tabs in Chromium (needs chromium)',
  () => {
    const at = usePages(({ database, folder }) => fillDatabase(database, folder));

    const show = async (hash: string): Promise<void> => {
      await at.page.goto(`/#/${hash}`);
      await settle(at.page);
    };
    const getWidth = async (): Promise<number> =>
      Number(await at.page.evaluate('document.documentElement.scrollWidth'));

    test.each(FORMS)(
      '10,000 characters in every field of %s are refused in one sentence, and fit',
      async (hash, opens) => {
        await at.page.setViewportSize({ width: 360, height: 740 });
        await show(hash);
        if (opens !== null) await at.page.getByText(opens, { exact: true }).first().click();
        const opened = at.page.locator('details[open] > form');
        const form = (
          (await opened.count()) > 0 ? opened : at.page.locator('main form:not(.actions)')
        ).last();
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
        await at.page.setViewportSize({ width: 1280, height: 800 });
        // What the browser notes of each refused request.
        expect(at.faults.splice(0).filter((fault) => !/status of 4(00|13|22)/.test(fault))).toEqual([]);
      },
    );

    test('what is wrong with a field stands below it', async () => {
      await show('schedules');
      await at.page.getByText('New schedule').click();
      await at.page.getByLabel('Name').last().fill('-');
      await at.page.getByLabel('Command (without packhouse)').fill('audit');
      await at.page
        .locator('main form')
        .last()
        .evaluate((element: { noValidate: boolean }) => {
          element.noValidate = true;
        });
      await at.page.locator('main form').last().locator('button[type=submit]').click();
      await at.page.getByRole('alert').waitFor();
      const wrong = at.page.locator('[aria-invalid=true]');
      await wrong.first().waitFor();
      expect(await wrong.first().locator('xpath=following-sibling::small').count()).toBe(1);
      at.faults.length = 0;
    });

    test.each([768, 1_920])('each screen fits a width of %i px', async (width) => {
      await at.page.setViewportSize({ width, height: 900 });
      const tooWide: string[] = [];
      for (const hash of SCREENS) {
        await show(hash);
        const found = await getWidth();
        if (found > width) tooWide.push(`${hash}: ${found} px: ${await at.page.evaluate(WIDEST)}`);
      }
      await at.page.setViewportSize({ width: 1280, height: 800 });
      expect(tooWide).toEqual([]);
      expect(at.faults).toEqual([]);
    });

    test('on paper a screen has no menu, no buttons, light colours, and all of its rows', async () => {
      await at.page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      // A4 without its margins.
      await at.page.setViewportSize({ width: 700, height: 1_000 });
      const faults: string[] = [];
      for (const hash of SCREENS) {
        await show(hash);
        expect(await at.page.locator('.sidebar, button, form').filter({ visible: true }).count()).toBe(0);
        const found = await getWidth();
        if (found > 700) faults.push(`${hash}: ${found} px: ${await at.page.evaluate(WIDEST)}`);
        expect(await at.page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe(
          'light',
        );
      }
      expect(faults).toEqual([]);
      expect((await at.page.pdf({ format: 'A4' })).length).toBeGreaterThan(1_000);
      await at.page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      await at.page.setViewportSize({ width: 1280, height: 800 });
    });

    test(`of ${TABS} tabs only the one that is seen has a stream, and all of them load`, async () => {
      const context = at.page.context();
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
      await at.database.network('main').alarms.raise({ name: 'HALTED', message: 'Seen in the last tab.' });
      await last.getByText('Seen in the last tab.').first().waitFor();
      expect(new Set(streams.filter((each) => tabs.includes(each))).size).toBe(1);
      await Promise.all(tabs.map((tab) => tab.close()));
    });
  },
);
