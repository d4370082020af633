import type { Database } from '@packhouse/database';
import { toDay } from '@packhouse/runtime';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { addAda } from './fixture.js';
import { getShownFaults, SCREENSHOTS, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

async function fillAccounts({ database }: { database: Database }): Promise<void> {
  await addAda(database);
  await database.networks.register({ id: 'main', chainId: 1 });
  await database.operators.add({ name: 'olga', role: 'owner', password: null });
  await database.operators.add({ name: 'vic', role: 'viewer', password: null });
}

describe.skipIf(WITHOUT_CHROMIUM)('applications, keys and accounts in Chromium (needs chromium)', () => {
  const at = usePages(fillAccounts);

  /** What asks first is answered with yes; the question is returned. */
  const confirm = async (shown: Page, press: () => Promise<void>): Promise<string> => {
    await shown.evaluate(() => {
      const browserPage = globalThis as unknown as { asked: string; confirm(text: string): boolean };
      browserPage.confirm = (text) => {
        browserPage.asked = text;
        return true;
      };
    });
    await press();
    return shown.evaluate(() => (globalThis as unknown as { asked: string }).asked);
  };

  test('an application is made, gets a key that is rotated, is watched, and archived', async () => {
    const { database, page } = at;
    await page.goto('/#/keys');
    await page.getByText('New application').click();
    await page.getByLabel('Name', { exact: false }).first().fill('shop / <b>web</b>');
    await page.getByLabel('Owner').fill('olga');
    await page.getByLabel('Contact').fill('#shop');
    expect(await getShownFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'shop / <b>web</b>' }).waitFor();
    await page.getByText('No keys yet.').waitFor();
    await page.getByText('New key').click();
    await page.getByRole('button', { name: 'Create' }).click();
    const made = await page.locator('pre').textContent();
    expect(made).toMatch(/^ph_[\w-]{20,}$/);
    await page.getByRole('button', { name: 'Done' }).click();
    const prefix = made?.slice(0, 11) ?? '';
    await page.getByRole('region', { name: 'Keys' }).getByText(prefix).waitFor();

    await page.goto(`/#/keys/${prefix}`);
    await page.getByRole('button', { name: 'With parameters for 15 minutes' }).click();
    await page.getByText(/^On until .*, with parameters/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^Off\./).waitFor();

    // From any screen: API keys, the key, Rotate.
    await page.goto('/#/overview');
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('link', { name: prefix }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    expect(await page.locator('pre').textContent()).toMatch(new RegExp(`^${prefix}_`));
    await page.getByText('Old secret works until').waitFor();
    expect(await getShownFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    const again = page.getByRole('button', { name: 'Rotate', exact: true });
    expect(await confirm(page, () => again.click())).toMatch(
      /^The secret before the last rotation works until/,
    );
    await page.getByRole('button', { name: 'Done' }).click();

    const { id = 0 } = (await database.keys.named(prefix)) ?? {};
    const count = { network: 'main', requests: 3, errors: 1, bytes: 900, day: toDay(Date.now()), keyId: id };
    await database.usage.add([
      { ...count, method: 'eth_call', units: 60 },
      { ...count, method: 'eth_getLogs', units: 75 },
    ]);
    await page.getByRole('link', { name: 'shop / <b>web</b>' }).click();
    await page.getByRole('button', { name: 'Watch for 10 minutes' }).click();
    await page.getByText(/^On until/).waitFor();
    const request = { network: 'main', calls: 1, ms: 4.2, units: 75, bytes: 900, leftOut: 0, at: new Date() };
    const log = { ...request, params: null };
    await database.keyRequests.add([
      { keyId: id, method: 'eth_getLogs', status: 429, outcome: 'rate', ...log },
    ]);
    const requests = page.getByRole('region', { name: 'Requests' }).first();
    await requests.getByRole('row', { name: new RegExp(`${prefix}.*eth_getLogs.*429.*4.2 ms`) }).waitFor();
    await page.getByRole('row', { name: /eth_getLogs 3 75 1/ }).waitFor();
    expect(await getShownFaults(page)).toEqual([]);
    await page.screenshot({ path: `${SCREENSHOTS}application.png`, fullPage: true });

    await page.getByRole('button', { name: 'Restrict all keys' }).click();
    await page.getByLabel('Allowed addresses').first().fill('10.0.0.0/8');
    expect(await getShownFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Restrict', exact: true }).click();
    await page.getByRole('button', { name: 'Restrict', exact: true }).waitFor({ state: 'detached' });
    expect(await database.keys.named(prefix)).toMatchObject({ addresses: ['10.0.0.0/8'], origins: [] });

    const archive = page.getByRole('button', { name: 'Archive', exact: true });
    expect(await confirm(page, () => archive.click())).toContain('revoke 1 live key?');
    await page.getByText('Its keys stay revoked.').waitFor();
    await page.getByText(/^Archived/).waitFor();
    await page
      .getByRole('region', { name: 'Keys' })
      .getByText(/^Revoked/)
      .waitFor();
    expect(await getShownFaults(page)).toEqual([]);
    await page.goto('/#/keys');
    await page.getByText('No applications yet.').waitFor();
    await page.getByRole('link', { name: 'Show archived' }).click();
    await page.getByRole('link', { name: 'shop / <b>web</b>' }).waitFor();
    expect(at.faults).toEqual([]);
  });

  test('Ctrl-K finds an application by its name and by its key', async () => {
    const { database, page } = at;
    await database.applications.add({ name: 'analytics', owner: 'olga', description: '', contact: '' });
    const { row } = await database.keys.create({ application: 'analytics', network: null, plan: 'free' });
    for (const text of ['analyt', row.prefix]) {
      await page.goto('/#/overview');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await page.getByRole('option', { name: 'analytics Application of olga' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'analytics' }).waitFor();
    }
    expect(at.faults).toEqual([]);
  });

  test('an owner manages what is its own: no other screen, no new keys; a viewer changes nothing', async () => {
    const { database } = at;
    const mine = await database.keys.create({ application: 'analytics', network: null, plan: 'free' });
    await database.keys.create({ application: 'of others', network: null, plan: 'free' });
    const olga = await at.signIn('olga');
    const own = olga.page;
    const menu = own.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    expect(await menu.allTextContents()).toEqual(['Applications']);
    await own.getByRole('link', { name: 'analytics' }).waitFor();
    expect(await own.getByText('of others').count()).toBe(0);
    for (const absent of ['New key', 'New application', 'Audit log'])
      expect(await own.getByText(absent).count(), absent).toBe(0);
    expect(await getShownFaults(own)).toEqual([]);
    await own.getByRole('link', { name: mine.row.prefix }).click();
    await own.getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await own.getByLabel('Allowed methods').count()).toBe(0);
    await own.getByLabel('Allowed browser origins').fill('https://app.example.com');
    await own.getByRole('button', { name: 'Save', exact: true }).click();
    await own.getByText('https://app.example.com').first().waitFor();
    await own.getByRole('button', { name: 'Rotate', exact: true }).click();
    expect(await own.locator('pre').textContent()).toMatch(new RegExp(`^${mine.row.prefix}_`));
    expect(await getShownFaults(own)).toEqual([]);
    expect(olga.faults).toEqual([]);
    await own.screenshot({ path: `${SCREENSHOTS}owner.png` });
    await own.context().close();

    const vic = await at.signIn('vic');
    await vic.page.goto(`/#/keys?application=analytics`);
    await vic.page.getByRole('link', { name: mine.row.prefix }).waitFor();
    for (const absent of ['Edit', 'Archive', 'Restrict all keys', 'Watch for 10 minutes'])
      expect(await vic.page.getByRole('button', { name: absent }).count(), absent).toBe(0);
    expect(await vic.page.getByText('New key').count()).toBe(0);
    expect(await getShownFaults(vic.page)).toEqual([]);
    expect(vic.faults).toEqual([]);
    await vic.page.context().close();
  });

  test('an admin pages through the sign-ins, and reads why one was refused', async () => {
    const { database, page } = at;
    const attempt = { method: 'password', address: '192.0.2.7' } as const;
    for (let n = 0; n < 60; n++)
      await database.signIns.add({ ...attempt, name: `guest ${n}`, outcome: 'SIGN_IN_REFUSED' });
    await page.goto('/#/operators');
    const log = page.getByRole('region', { name: 'Sign-ins' }).first();
    const refused = log.getByRole('row', {
      name: /guest 59 Password Refused wrong or used link.* 192\.0\.2\.7/,
    });
    await refused.waitFor();
    expect(await getShownFaults(page)).toEqual([]);
    await log.getByRole('link', { name: 'Older' }).click();
    await log.getByRole('row', { name: /guest 0 / }).waitFor();
    await log.getByRole('row', { name: /ada One-time link Signed in/ }).waitFor();
    await log.getByRole('link', { name: 'Newest' }).click();
    await refused.waitFor();
    expect(at.faults).toEqual([]);
  });
});
