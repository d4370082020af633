import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import {
  chromiumPath,
  getFindings,
  LATEST_MS,
  openPage,
  startChromium,
  type WatchedPage,
} from '../browser.js';
import { type ConsoleProcess, startConsole } from '../console-process.js';
import { getLink, openDatabase } from '../fixture.js';

/** Whether there is nothing to test in. */
export const WITHOUT_CHROMIUM = chromiumPath() === null;
/** The folder of pictures that tests take. */
export const SCREENSHOTS = fileURLToPath(new URL('../../screenshots/', import.meta.url));
const BEAT_MS = 4_000;

/** What a test file writes into its database, and objects into the folder, before the console starts. */
interface Given {
  database: Database;
  databaseUrl: string;
  folder: string;
}
/** May return a function, which is called again while the tests run: reports of processes are gone after 15 seconds. */
type Fill = (given: Given) => Promise<unknown>;

/** A console, and a Chromium in which ada is signed in, for one test file; both exist from its first hook on. */
interface Pages extends Given {
  readonly server: ConsoleProcess;
  readonly browser: Browser;
  /** That of ada. */
  readonly page: Page;
  /** What went wrong in it. */
  readonly faults: string[];
  /** Opens another page, in a context of its own, without a session. */
  open(): Promise<WatchedPage>;
  /** Opens one in which this operator is signed in by a link. */
  signIn(name: string): Promise<WatchedPage>;
  /** Opens one with an empty cache in which ada is signed in, at the console or what is before it. */
  openAgain(origin?: string): Promise<Page>;
}

/** Makes them before the tests of a `describe`, and removes them after it. `signedIn`: whether ada is. */
export function usePages(
  fill: Fill,
  { env = {}, signedIn = true }: { env?: Record<string, string>; signedIn?: boolean } = {},
): Pages {
  let fresh: FreshDatabase;
  let database: Database;
  let folder: string;
  let server: ConsoleProcess;
  let browser: Browser;
  let ada: WatchedPage;
  let timer: NodeJS.Timeout | undefined;
  let state: ReturnType<typeof readState> | undefined;

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = openDatabase(fresh.url);
    folder = await mkdtemp(path.join(tmpdir(), 'packhouse-browser-'));
    const beat = await fill({ database, databaseUrl: fresh.url, folder });
    if (typeof beat === 'function') timer = setInterval(() => void beat(), BEAT_MS);
    server = await startConsole({ DATABASE_URL: fresh.url, OBJECT_STORE: folder, ...env });
    browser = await startChromium(chromiumPath() as string);
    ada = await (signedIn ? signIn('ada') : open());
  });
  afterAll(async () => {
    clearInterval(timer);
    await browser?.close();
    await server?.kill();
    await database?.close();
    await fresh?.drop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const open = (): Promise<WatchedPage> => openPage(browser, server.origin);
  const signIn = async (name: string): Promise<WatchedPage> => {
    const opened = await open();
    await opened.page.goto(await getLink(database, name));
    await opened.page.getByText(`${name} (`).waitFor();
    opened.faults.length = 0;
    return opened;
  };
  const readState = async () => {
    const { page } = await signIn('ada');
    const found = await page.context().storageState();
    await page.context().close();
    return found;
  };
  return {
    get database() {
      return database;
    },
    get databaseUrl() {
      return fresh.url;
    },
    get folder() {
      return folder;
    },
    get server() {
      return server;
    },
    get browser() {
      return browser;
    },
    get page() {
      return ada.page;
    },
    get faults() {
      return ada.faults;
    },
    open,
    signIn,
    openAgain: async (baseURL = server.origin) => {
      state ??= readState();
      const context = await browser.newContext({ baseURL, storageState: await state });
      context.setDefaultTimeout(LATEST_MS);
      return context.newPage();
    },
  };
}

/** Waits until everything that is shown was read. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await expect.poll(() => page.locator('p.waiting').count()).toBe(0);
}

/** Faults of what is shown once it was read: findings of axe, and problems. */
export async function getShownFaults(page: Page): Promise<string[]> {
  await settle(page);
  return [...(await getFindings(page)), ...(await page.getByRole('alert').allTextContents())];
}
