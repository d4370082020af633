import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runSql } from '@packhouse/local';
import type { Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fillDatabase } from './fixture.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const DAY_MS = 86_400_000;
/** Screens of parts that are read one by one, and which of their answers comes first: that to the last question, or the first. */
const SCREENS: readonly [hash: string, first: 'pop' | 'shift'][] = [
  ['overview', 'pop'],
  ['overview', 'shift'],
  ['coverage?network=main', 'pop'],
  ['backfills', 'pop'],
  ['nodes', 'pop'],
  ['quarantine', 'pop'],
  ['budgets', 'pop'],
];

describe.skipIf(WITHOUT_CHROMIUM)('bad days in Chromium (needs chromium)', () => {
  const at = usePages(({ database, folder }) => fillDatabase(database, folder), { signedIn: false });

  /** Raises an alarm of a network that has none; returns its message. */
  const raise = async (name: string): Promise<string> => {
    const message = `Raised for ${name}.`;
    await at.database.network('main').alarms.raise({ name, message });
    return message;
  };

  test.each([-6, 6])(
    'a browser whose clock is wrong by %i days says ages by that of the console',
    async (days) => {
      await at.database.network('main').alarms.raise({ name: 'HALTED', message: 'It stands still.' });
      await runSql(
        at.databaseUrl,
        `UPDATE packhouse.alarm SET raised_at = now() - interval '3 hours' WHERE name = 'HALTED'`,
      );
      const page = await at.openAgain();
      await page.clock.install({ time: Date.now() + days * DAY_MS });
      await page.goto('/#/alarms');
      await page
        .getByRole('row', { name: /It stands still/ })
        .getByText(/^3 h \d+ min \d*\s?/)
        .first()
        .waitFor();
      await page.goto('/#/quarantine');
      await page
        .getByRole('table', { name: 'Blocks' })
        .getByText(/^\d+ (s|min \d+ s) ago$/)
        .first()
        .waitFor();
      await page.context().close();
    },
  );

  test('while a slow console answers, screens have their title, say that they load, and nothing jumps', async () => {
    const page = await at.openAgain();
    await page.addInitScript({ content: WATCH_SHIFTS });
    const shifts: string[] = [];
    for (const [screen, first] of SCREENS) {
      const held: Route[] = [];
      await page.route(/\/api\/(?!session)/, (route) => void held.push(route));
      await page.goto(`/#/${screen}`);
      await page.reload();
      await page.locator('h1').first().waitFor();
      await expect.poll(() => page.locator('p.waiting').count()).toBeGreaterThan(0);
      expect(await page.getByRole('alert').count()).toBe(0);
      await expect
        .poll(async () => {
          await held[first]()?.continue();
          return held.length === 0 && (await page.locator('p.waiting').count());
        })
        .toBe(0);
      const found = await page.evaluate<{ value: number; of: string }[]>('shifts');
      shifts.push(...found.map(({ value, of }) => `${screen}: ${value.toFixed(4)} ${of}`));
      await page.unrouteAll();
    }
    expect(shifts).toEqual([]);
    await page.context().close();
  });

  // Half a minute: silence is only noticed after twelve seconds, and a stream is tried again after ten.
  test.runIf(process.env.TESTS === 'all')(
    'with a proxy that keeps events back, or that cuts them, a page asks for itself, and then listens again (needs npm run test:all)',
    async () => {
      const proxy = await startProxy(at.server.origin);
      const page = await at.openAgain(proxy.origin);
      // Cookies are of a host, whatever its port.
      proxy.events = 'held';
      await page.goto('/#/alarms');
      await page
        .getByText(await raise('HEAD_STALLED'))
        .first()
        .waitFor();
      expect(await page.getByText(/Last updated/).count()).toBe(0);
      proxy.events = 'cut';
      await page
        .getByText(await raise('BUDGET_SPENT'))
        .first()
        .waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      proxy.events = 'passed';
      await expect.poll(() => proxy.passed).toBeGreaterThan(0);
      const asked = proxy.polls;
      await page
        .getByText(await raise('DISK_FULL'))
        .first()
        .waitFor();
      // The change came with an event: at most one poll was on its way.
      expect(proxy.polls - asked).toBeLessThanOrEqual(1);
      await page.context().close();
      await proxy.close();
    },
  );
});

/** Notes what moved without a key or a pointer. */
const WATCH_SHIFTS = `globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    const of = sources.map(({ node }) => node?.outerHTML?.slice(0, 90) ?? node?.textContent).join(' | ');
    shifts.push({ value, of });
  }
}).observe({ type: 'layout-shift', buffered: true })`;

/** A proxy before a console: what it does with the stream of events, and how often it was asked for alarms. */
interface Proxy {
  origin: string;
  events: 'passed' | 'held' | 'cut';
  passed: number;
  polls: number;
  close(): Promise<void>;
}

async function startProxy(target: string): Promise<Proxy> {
  const proxy: Proxy = { origin: '', events: 'passed', passed: 0, polls: 0, close: async () => undefined };
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const url = incoming.url ?? '/';
    const isStream = url.startsWith('/api/events');
    if (isStream && proxy.events === 'cut') return void incoming.socket.destroy();
    if (isStream && proxy.events === 'passed') proxy.passed += 1;
    if (url === '/api/alarms') proxy.polls += 1;
    const { method } = incoming;
    const headers = { ...incoming.headers, host: new URL(target).host };
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      if (isStream && proxy.events === 'held') return void answer.resume();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server: Server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return proxy;
}
