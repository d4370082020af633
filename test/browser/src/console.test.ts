import { describe, expect, test } from 'vitest';
import { getFindings } from './browser.js';
import { fillDatabase, fillQueue, getLink, HOSTILE, PASSWORD } from './fixture.js';
import { SCREENSHOTS, settle, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

/** Each has a minute of screens: the dark one is tried at night. */
const SCHEMES: readonly ('light' | 'dark')[] = process.env.TESTS === 'all' ? ['light', 'dark'] : ['light'];

describe.skipIf(WITHOUT_CHROMIUM)('the console in Chromium (needs chromium)', () => {
  const at = usePages(
    async ({ database, databaseUrl, folder }) => {
      await fillDatabase(database, folder);
      await fillQueue(databaseUrl);
    },
    { signedIn: false },
  );

  /** The links of the menu to screens of these pages: the board of jobs has pages of its own. */
  const menu = () =>
    at.page.getByRole('navigation', { name: 'Screens', includeHidden: true }).locator('a[href^="#"]');
  /** Goes to each screen of the menu in turn. */
  const eachScreen = async (visit: (name: string) => Promise<void>): Promise<void> => {
    const { page } = at;
    const opens = page.getByRole('button', { name: 'Menu', exact: true });
    for (const link of await menu().all()) {
      if (await opens.isVisible()) await opens.click();
      await link.click();
      await expect.poll(() => link.getAttribute('aria-current')).toBe('page');
      await settle(page);
      await visit(((await link.textContent()) ?? '').toLowerCase().replace(/\W+/g, '-'));
    }
  };

  test('a link signs in, once, and does not stay in the history', async () => {
    const { database, page } = at;
    const link = await getLink(database, 'ada');
    await page.goto(link);
    await page.getByText('ada (admin)').waitFor();
    expect(page.url()).not.toContain('link');
    const other = await at.open();
    await other.page.goto(link);
    await other.page.getByRole('alert').getByText('SIGN_IN_REFUSED').waitFor();
    await other.page.screenshot({ path: `${SCREENSHOTS}sign-in.png` });
    expect(await getFindings(other.page)).toEqual([]);
    await other.page.context().close();
    expect(at.faults).toEqual([]);
  });

  test.each(SCHEMES)('each screen is without faults, %s', async (colorScheme) => {
    const { page } = at;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const findings: string[] = [];
    await eachScreen(async (name) => {
      await page.screenshot({ path: `${SCREENSHOTS}${name}-${colorScheme}.png` });
      findings.push(...(await getFindings(page)).map((finding) => `${name}: ${finding}`));
      for (const problem of await page.getByRole('alert').all()) {
        findings.push(`${name}: ${await problem.textContent()}`);
      }
    });
    expect(findings).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('each screen fits a width of 360 px, whatever things are called', async () => {
    const { page } = at;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 360, height: 740 });
    const tooWide: string[] = [];
    await eachScreen(async (name) => {
      await page.screenshot({ path: `${SCREENSHOTS}${name}-narrow.png` });
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (width > 360) tooWide.push(`${name}: ${width} px`);
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(tooWide).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('names are text, whatever they contain', async () => {
    const { page } = at;
    await page.goto('/#/alarms');
    await page.getByText(HOSTILE.html).first().waitFor();
    await page.getByText(HOSTILE.long).first().waitFor();
    await page.locator('main').getByText(HOSTILE.emoji).first().waitFor();
    await eachScreen(async () => {
      expect(await page.locator('img, main script').count()).toBe(0);
    });
    expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
    expect(at.faults).toEqual([]);
  });

  test('the keyboard reaches the content, each screen, and the end of the session', async () => {
    const { page } = at;
    await page.goto('/#/alarms');
    await page.reload();
    await settle(page);
    const focused = () => page.evaluate('document.activeElement?.textContent?.trim()');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    const titles = await menu().allInnerTexts();
    expect(titles.length).toBeGreaterThan(1);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('SELECT');
    await page.keyboard.press('Tab');
    expect(await focused()).toContain('Go to…');
    for (const title of titles) {
      await page.keyboard.press('Tab');
      if ((await focused()) === 'Jobs') await page.keyboard.press('Tab');
      expect(await focused()).toBe(title);
      await page.keyboard.press('Enter');
      await page
        .getByRole('link', { name: title, exact: true })
        .and(page.locator('[aria-current=page]'))
        .waitFor();
    }
    for (const label of ['System', 'Light', 'Dark', 'Sign out']) {
      await page.keyboard.press('Tab');
      expect(await focused()).toBe(label);
    }
  });

  test('Ctrl-K goes to a screen, a network and a block; g and a letter to a screen', async () => {
    const { page } = at;
    const address = () => new URL(page.url()).hash;
    const targets = page.getByRole('listbox', { name: 'Targets' }).getByRole('option');
    const go = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill(text);
      await targets.first().waitFor();
      await page.keyboard.press('Enter');
    };
    await page.goto('/#/alarms');
    await settle(page);
    await go('audit');
    await expect.poll(address).toBe('#/changes');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('main 15,500');
    await targets.filter({ hasText: 'Block 15,500 of main' }).first().waitFor();
    expect(await getFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(address).toBe('#/coverage?network=main&from=15500&to=15500');
    await settle(page);
    // Between the two there may be a second and a half.
    const typed = async (): Promise<string> => {
      await page.keyboard.type('gn');
      return address();
    };
    await expect.poll(typed, { timeout: 30_000 }).toBe('#/nodes');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor({ state: 'detached' });
    expect(at.faults).toEqual([]);
  });

  test('what is typed right after Ctrl-K is typed into the palette', async () => {
    const { page } = at;
    await page.goto('/#/alarms');
    await settle(page);
    // A key that was pressed next would be handled right after what this one has drawn.
    const focused = await page.evaluate(`
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
      Promise.resolve().then(() => document.activeElement.getAttribute('aria-label'))
    `);
    expect(focused).toBe('Go to');
    // One that was closed says so a little later, when the next is shown.
    const isOpen = await page.evaluate(`(async () => {
      const press = () => dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
      const first = document.querySelector('dialog.palette');
      const closed = new Promise((resolve) => first.addEventListener('close', resolve));
      first.close();
      press();
      await closed;
      await Promise.resolve();
      return document.querySelector('dialog.palette[open]') !== null;
    })()`);
    expect(isOpen).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor({ state: 'detached' });
  });

  test('the selected network and the chosen colours stay', async () => {
    const { page } = at;
    await page.goto('/#/overview');
    await page.getByLabel('Network', { exact: true }).selectOption('side');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/overview?network=side');
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await menu().filter({ hasText: 'Coverage' }).click();
    await page.getByRole('heading', { name: 'Coverage of side' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Coverage of side' }).waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark');
    await page.getByRole('button', { name: 'System', exact: true }).click();
    await page.getByLabel('Network', { exact: true }).selectOption('');
    expect(at.faults).toEqual([]);
  });

  test('a file is found by its block, opened, and verified in the browser', async () => {
    const { page } = at;
    await page.goto('/#/files?network=main');
    await page.getByLabel('Block').fill('1_500');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: 'logs published' }).getByRole('link', { name: '1000-1999' }).click();
    await page.getByRole('button', { name: 'Open and verify' }).click();
    const checks = page.getByRole('region', { name: 'Checks' }).locator('tbody tr');
    await page.getByText('block 1,004').waitFor();
    const results = await checks.locator('td:nth-child(2)').allTextContents();
    expect(results).toEqual(Array(6).fill('passed'));
    await page.getByText(HOSTILE.html).first().waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}file.png` });
    expect(await getFindings(page)).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('the board of jobs shows a job, without what only its font would need', async () => {
    const { page } = at;
    await page.goto('/#/workers');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page
      .getByRole('link', { name: /ingest/ })
      .first()
      .click();
    await page.getByText('j-window-1000').first().click();
    await page.getByText('<b>ada</b>').first().waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}jobs.png` });
    expect(at.faults.splice(0).filter((fault) => !fault.includes('fonts.googleapis.com'))).toEqual([]);
  });

  test('while the console is away the page stays and says since when its figures are old', async () => {
    const { page } = at;
    await page.goto('/#/alarms');
    await settle(page);
    await at.server.kill();
    await page.getByText(/Last updated \d{4}-\d\d-\d\d/).waitFor();
    await page.locator('main').getByText(HOSTILE.emoji).first().waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}away.png` });
    await at.server.start();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.locator('main').getByText(HOSTILE.emoji).first().waitFor();
    expect(
      at.faults.splice(0).filter((fault) => !fault.includes('Failed to load resource: net::ERR_')),
    ).toEqual([]);
  });

  test('when the session ends the page asks to sign in, and goes on where it was', async () => {
    const { database, page } = at;
    await page.goto('/#/alarms');
    await settle(page);
    // Whatever changes an operator ends his sessions.
    await database.operators.set('ada', { role: 'admin' });
    await page.getByLabel('Password').fill('wrong password');
    await page.getByLabel('Name').fill('ada');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('SIGN_IN_REFUSED').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('main').getByText(HOSTILE.emoji).first().waitFor();
    expect(page.url()).toContain('#/alarms');
    expect(at.faults.splice(0).filter((fault) => !fault.includes('status of 401'))).toEqual([]);
  });
});
