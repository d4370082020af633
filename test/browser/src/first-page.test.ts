import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fillShowcase } from './pictures/fill-showcase.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

/** Bytes per second, as Chromium's own preset "Fast 3G" has them: 90 % of 1.6 Mbit/s and of 750 kbit/s. */
const DOWN = (1.6 * 1024 * 1024 * 0.9) / 8;
const UP = (750 * 1024 * 0.9) / 8;
/** Milliseconds that each request waits; the preset has 150 × 3.75, for a connection that opens and grows slowly. */
const LATENCIES = [150, 562.5];
const RUNS = 7;
/** What Overview waits for. */
const AWAITED = ['/api/session', '/api/overview', '/api/findings'];

describe.skipIf(WITHOUT_CHROMIUM)('the first page in Chromium (needs chromium)', () => {
  const at = usePages(({ database, databaseUrl }) => fillShowcase(database, databaseUrl), {
    signedIn: false,
  });

  test('what Overview waits for is asked for once, by the HTML, while its script is on the way', async () => {
    const page = await at.openAgain();
    const asked: string[] = [];
    let release = (): void => undefined;
    const allAsked = new Promise<void>((resolve) => {
      release = resolve;
    });
    page.on('request', (request) => {
      asked.push(new URL(request.url()).pathname);
      if (AWAITED.every((path) => asked.includes(path))) release();
    });
    // No script arrives before.
    await page.route('**/assets/*.js', async (route) => {
      await allAsked;
      await route.continue();
    });
    await page.goto('/');
    await page.getByRole('cell', { name: 'arbitrum', exact: true }).waitFor();
    await page.getByRole('region', { name: 'Needs action' }).waitFor();
    expect(AWAITED.map((path) => asked.filter((each) => each === path).length)).toEqual([1, 1, 1]);
    expect(asked.filter((path) => path.endsWith('.css'))).toEqual([]);
    await page.context().close();
  });

  test.runIf(process.env.FIRST_PAGE === 'on')(
    'times, medians (needs FIRST_PAGE=on)',
    { timeout: 600_000 },
    async () => {
      for (const latency of LATENCIES) {
        const times: Times[] = [];
        for (let run = 0; run < RUNS; run++) times.push(await measure(await at.openAgain(), latency));
        const median = (of: (time: Times) => number): number =>
          Math.round(times.map(of).sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN);
        const bytes = median((time) => time.bytes);
        process.stdout.write(
          `${latency} ms: first paint ${median((time) => time.painted)} ms, usable ${median((time) => time.usable)} ms, ` +
            `${bytes} bytes; usable ${times.map(({ usable }) => Math.round(usable)).join(' ')}\n`,
        );
      }
    },
  );
});

/** Notes when findings and networks were painted. */
const WATCH = `new MutationObserver((_, observer) => {
  if (!document.querySelector('main tbody tr') || !document.querySelector('.findings li')) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.usable = performance.now(); }));
}).observe(document, { childList: true, subtree: true })`;

interface Times {
  painted: number;
  usable: number;
  /** Of the files of the page, as they were sent. */
  bytes: number;
}

/** Opens Overview over a slow line. Usable: its findings and networks are there. */
async function measure(page: Page, latency: number): Promise<Times> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: DOWN,
    uploadThroughput: UP,
  });
  await page.addInitScript({ content: WATCH });
  await page.goto('/');
  await expect.poll(() => page.evaluate('globalThis.usable !== undefined')).toBe(true);
  const times = await page.evaluate<Times>(`({
    usable,
    painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ name }) => !name.includes('/api/'))
      .reduce((sum, { transferSize }) => sum + transferSize, 0),
  })`);
  await page.context().close();
  return times;
}
