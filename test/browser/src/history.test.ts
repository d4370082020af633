import { readFile } from 'node:fs/promises';
import type { Database } from '@packhouse/database';
import { describe, expect, test } from 'vitest';
import { getFindings } from './browser.js';
import { HOSTILE } from './fixture.js';
import { SCREENSHOTS, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const MINUTE_MS = 60_000;
/** Minutes of samples, and which of them are missing. */
const MINUTES = 180;
const isMissing = (ago: number): boolean => ago >= 30 && ago < 40;

describe.skipIf(WITHOUT_CHROMIUM)('the history in Chromium (needs chromium)', () => {
  const at = usePages(async ({ database }) => {
    await database.operators.add({ name: 'ada', role: 'viewer', password: null });
    await database.networks.register({ id: HOSTILE.emoji, chainId: 1 });
    await fillHistory(database);
  });

  test('a number of Overview opens its curve, which is loaded only then; keys read it, and CSV has its gap', async () => {
    const { page, faults } = at;
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    const button = page.getByRole('button', { name: 'Published blocks of Installation over time' });
    await button.locator('svg').waitFor();
    // A gap is no line: the sparkline has two parts.
    expect((await button.locator('path').getAttribute('d'))?.match(/M/g)).toHaveLength(2);
    await page.screenshot({ path: `${SCREENSHOTS}history-overview.png` });
    expect(loaded.filter((url) => url.includes('curve-dialog'))).toEqual([]);

    await button.click();
    const dialog = page.getByRole('dialog');
    const curve = dialog.getByRole('slider', { name: 'Published blocks' });
    await curve.waitFor();
    expect(loaded.filter((url) => url.includes('curve-dialog')).length).toBeGreaterThan(0);
    await dialog.getByLabel('Last').selectOption('hour');
    await dialog.getByText('One point every 1 min').waitFor();
    await curve.focus();
    await page.keyboard.press('End');
    // The minute that runs has no sample yet, nor may the one before.
    for (let times = 0; times < 3; times++) await page.keyboard.press('ArrowLeft');
    await dialog
      .getByText(/blocks\/s$/)
      .first()
      .waitFor();
    for (let times = 0; times < 3; times++) await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => curve.getAttribute('aria-valuetext')).toMatch(/: unknown$/);
    await dialog.getByText('3 events').click();
    await dialog.getByText(HOSTILE.html).first().waitFor();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.screenshot({ path: `${SCREENSHOTS}history-curve-${colorScheme}.png` });
      expect(await getFindings(page)).toEqual([]);
    }
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Export as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('blocks-Installation-1h.csv');
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines[0]).toBe('time,blocks per second');
    expect(lines.filter((line) => line.endsWith('Z,')).length).toBeGreaterThanOrEqual(10);

    await page.setViewportSize({ width: 360, height: 740 });
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(360);
    await page.screenshot({ path: `${SCREENSHOTS}history-curve-narrow.png` });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement?.title')).toBe(
      'Published blocks of Installation over time',
    );
    expect(faults).toEqual([]);
  });

  test('a network of any name has its curves', async () => {
    const { page, faults } = at;
    await page.getByRole('button', { name: `Published blocks of ${HOSTILE.emoji} over time` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Figure').selectOption('Behind the head');
    await dialog.getByRole('slider', { name: 'Behind the head' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(faults).toEqual([]);
  });
});

async function fillHistory(database: Database): Promise<void> {
  const lock = await database.tryLock('history');
  if (lock === null) throw new Error('the lock is taken');
  const writer = await database.history.writer();
  const now = Math.floor(Date.now() / MINUTE_MS);
  for (let ago = MINUTES; ago > 0; ago--) {
    if (isMissing(ago)) continue;
    const wave = 50 + 30 * Math.sin(ago / 9) + (ago % 7);
    const figures = [wave, wave * 1_000, 3, 2, 0, 0];
    await writer.write(
      {
        minute: now - ago,
        installation: Array.from({ length: 18 }, (_, at) => wave * (at + 1)),
        named: {
          network: new Map([[HOSTILE.emoji, figures]]),
          node: new Map(),
          provider: new Map(),
          key: new Map(),
        },
      },
      lock.fence,
    );
  }
  await lock.release();
  const { alarms } = database.network(HOSTILE.emoji);
  await alarms.raise({ name: 'NODE_ANSWER_FALSE', message: HOSTILE.html });
  await alarms.clear('NODE_ANSWER_FALSE', 'operator');
}
