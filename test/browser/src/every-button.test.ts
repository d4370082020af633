import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chromiumPath, startChromium } from './browser.js';
import { EXPECTED_FAULTS, findMissing } from './buttons/exceptions.js';
import { OWN_PLACES, PLACES, SIGN_OUT } from './buttons/places.js';
import { type Place, type Press, Walk } from './buttons/walk.js';
import { type ConsoleProcess, startConsole } from './console-process.js';
import { fillQueue, getLink, openDatabase, PASSWORD } from './fixture.js';
import { fillShowcase, NAMES } from './pictures/fill-showcase.js';

const executable = chromiumPath();
const APPLICATION = 'wallet-app';

describe.skipIf(executable === null)('every button of the console (needs chromium)', () => {
  let fresh: FreshDatabase;
  let folder: string;
  let database: Database;
  let server: ConsoleProcess;
  let browser: Browser;
  let timer: NodeJS.Timeout;
  const presses: Press[] = [];

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = openDatabase(fresh.url);
    const beat = await fillShowcase(database, fresh.url);
    await fillQueue(fresh.url);
    timer = setInterval(() => void beat(), 4_000);
    folder = await mkdtemp(path.join(tmpdir(), 'packhouse-buttons-'));
    await mkdir(path.join(folder, 'ethereum/logs'), { recursive: true });
    await writeFile(path.join(folder, 'ethereum/logs/0'), gzipSync('[[{"blockNumber":0,"topics":[]}]]'));
    server = await startConsole({ DATABASE_URL: fresh.url, OBJECT_STORE: folder });
    browser = await startChromium(executable as string);
  });
  afterAll(async () => {
    clearInterval(timer);
    await browser?.close();
    await server?.kill();
    await database?.close();
    await fresh?.drop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const pressEach = async (walk: Walk, places: Readonly<Record<string, Place>>): Promise<void> => {
    for (const [name, place] of Object.entries(places)) await walk.pressAll(name, place);
    // What removes, revokes or archives something asks first: it is done when all others were pressed.
    for (const [name, place] of Object.entries(places)) await walk.confirmAll(name, place);
    await walk.pressAll('sign-out', SIGN_OUT);
    await walk.page.getByLabel('Password').waitFor();
    await walk.page.context().close();
    presses.push(...walk.presses);
    expect(walk.faults.filter((line) => !EXPECTED_FAULTS.some(({ fault }) => fault.test(line)))).toEqual([]);
  };

  test('each that an admin sees is pressed, and does no harm to its page', { timeout: 900_000 }, async () => {
    const walk = await Walk.open(browser, server.origin, NAMES);
    await walk.page.goto(await getLink(database, 'ada'));
    await walk.page.getByText('ada (admin)').waitFor();
    walk.forget();
    const [key] = await database.keys.list({ search: APPLICATION });
    const places = Object.entries(PLACES).map(
      ([name, place]) => [name, { ...place, hash: place.hash.replace(':key', key?.prefix ?? '') }] as const,
    );
    await pressEach(walk, Object.fromEntries(places));
  });

  test('so is each that the holder of a key sees', async () => {
    const { key } = await database.keys.create({ application: APPLICATION, network: null, plan: 'standard' });
    const walk = await Walk.open(browser, server.origin, NAMES);
    await walk.page.goto('/');
    await walk.page.getByLabel('API key').fill(key);
    await walk.page.getByRole('button', { name: 'View usage' }).click();
    await walk.page.getByText('(owner)').waitFor();
    presses.push({ room: 'sign-in', name: 'View usage' });
    await pressEach(walk, OWN_PLACES);
  });

  test('an operator signs in by name and password', async () => {
    const walk = await Walk.open(browser, server.origin, NAMES);
    await walk.page.goto('/');
    await walk.page.getByLabel('Name').fill('ada');
    await walk.page.getByLabel('Password').fill(PASSWORD);
    await walk.page.getByRole('button', { name: 'Sign in' }).click();
    await walk.page.getByText('ada (admin)').waitFor();
    await walk.page.context().close();
    presses.push({ room: 'sign-in', name: 'Sign in' });
  });

  test('all that the sources have were pressed', () => {
    expect(findMissing(presses)).toEqual([]);
  });
});
