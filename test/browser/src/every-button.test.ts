import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '@packhouse/database';
import { describe, expect, test } from 'vitest';
import { EXPECTED_FAULTS, findMissing } from './buttons/exceptions.js';
import { OWN_PLACES, PLACES, SIGN_OUT } from './buttons/places.js';
import { type Place, type Press, Walk } from './buttons/walk.js';
import { fillQueue, getLink, PASSWORD } from './fixture.js';
import { fillShowcase, NAMES, REAL_FILE } from './pictures/fill-showcase.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const APPLICATION = 'wallet-app';

async function fill(given: { database: Database; databaseUrl: string; folder: string }) {
  const { database, databaseUrl, folder } = given;
  const beat = await fillShowcase(database, databaseUrl);
  await fillQueue(databaseUrl);
  await mkdir(path.join(folder, 'ethereum/logs'), { recursive: true });
  await writeFile(path.join(folder, 'ethereum/logs/0'), REAL_FILE);
  return beat;
}

describe.skipIf(WITHOUT_CHROMIUM)('every button of the console (needs chromium)', () => {
  const at = usePages(fill, { signedIn: false });
  const presses: Press[] = [];

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
    const walk = await Walk.open(at.browser, at.server.origin, NAMES);
    await walk.page.goto(await getLink(at.database, 'ada'));
    await walk.page.getByText('ada (admin)').waitFor();
    walk.forget();
    const [key] = await at.database.keys.list({ search: APPLICATION });
    const places = Object.entries(PLACES).map(
      ([name, place]) => [name, { ...place, hash: place.hash.replace(':key', key?.prefix ?? '') }] as const,
    );
    await pressEach(walk, Object.fromEntries(places));
  });

  test('so is each that the holder of a key sees', async () => {
    const { key } = await at.database.keys.create({
      application: APPLICATION,
      network: null,
      plan: 'standard',
    });
    const walk = await Walk.open(at.browser, at.server.origin, NAMES);
    await walk.page.goto('/');
    await walk.page.getByLabel('API key').fill(key);
    await walk.page.getByRole('button', { name: 'View usage' }).click();
    await walk.page.getByText('(owner)').waitFor();
    presses.push({ room: 'sign-in', name: 'View usage' });
    await pressEach(walk, OWN_PLACES);
  });

  test('an operator signs in by name and password', async () => {
    const walk = await Walk.open(at.browser, at.server.origin, NAMES);
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
