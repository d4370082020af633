import { describe, expect, test } from 'vitest';
import { fillDatabase, PASSWORD, SECRET_PATH } from './fixture.js';
import { getShownFaults, SCREENSHOTS, usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

describe.skipIf(WITHOUT_CHROMIUM)('steering in Chromium (needs chromium)', () => {
  const at = usePages(({ database, folder }) => fillDatabase(database, folder));

  test('the screens of one thing are without faults', async () => {
    const { database, page } = at;
    const [key] = await database.keys.list({ search: 'shop' });
    const [first] = await database.backfills.list();
    const hashes = [
      `backfills/${first?.id}`,
      'backfills/new',
      'quarantine/main/15500',
      'plans',
      `keys/${key?.prefix}`,
      'changes?subject=backfill',
    ];
    const faults: string[] = [];
    for (const hash of hashes) {
      await page.goto(`/#/${hash}`);
      faults.push(...(await getShownFaults(page)).map((fault) => `${hash}: ${fault}`));
    }
    expect(faults).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('a backfill is created with hours from the grid, and changed; a quicker change is shown', async () => {
    const { database, page } = at;
    await page.goto('/#/backfills/new');
    await page.getByLabel('First block').fill('16,000');
    await page.getByLabel('Last block').fill('16_999');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Sat 9:00' }).click();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('As text').inputValue()).toBe('Sat 09:00-11:00 Europe/Berlin');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: /^Backfill \d+$/ }).waitFor();
    const id = Number(page.url().split('/').at(-1));
    expect(await database.backfills.find(id)).toMatchObject({
      network: 'main',
      from: 16_000,
      to: 16_999,
      windows: ['Sat 09:00-11:00 Europe/Berlin'],
    });
    await page.getByRole('button', { name: 'Edit terms' }).click();
    await page.getByLabel('Priority (1 is first)').fill('7');
    await database.backfills.change(id, { weight: 3 }, { actor: 'bob' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('CHANGED_MEANWHILE').waitFor();
    await alert.getByText('Now: weight 3 by bob').waitFor();
    expect(await database.backfills.find(id)).toMatchObject({ priority: 100, weight: 3 });
    expect(at.faults.splice(0).filter((fault) => !fault.includes('status of 409'))).toEqual([]);
  });

  test('blocks of the map are selected by dragging or by keys, and fill the form of a backfill', async () => {
    const { page } = at;
    await page.goto('/#/coverage?network=main&from=10000&to=19999');
    const map = page.getByRole('img', { name: /^Coverage of blocks 10,000 to 19,999/ });
    const { x, y, width } = (await map.boundingBox())!;
    await page.mouse.move(x + width * 0.25, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, y + 10, { steps: 4 });
    await page.mouse.up();
    const bar = page.getByRole('region', { name: 'Selected blocks' });
    await bar.getByText('Blocks 12,500 to 15,000').waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}coverage-selected.png` });
    expect(await getShownFaults(page)).toEqual([]);
    await bar.getByRole('button', { name: 'Pull' }).click();
    expect(await bar.locator('pre').textContent()).toContain('--from 12500 --to 15000');
    await map.focus();
    await page.keyboard.press('Shift+ArrowRight');
    await bar.getByText('Blocks 12,500 to 15,250').waitFor();
    await bar.getByRole('link', { name: 'Backfill', exact: true }).click();
    await page.getByRole('heading', { name: 'New backfill' }).waitFor();
    expect(await page.getByLabel('First block').inputValue()).toBe('12500');
    expect(await page.getByLabel('Last block').inputValue()).toBe('15250');
    await page.goBack();
    await map.focus();
    await page.keyboard.press('Shift+ArrowRight');
    await bar.waitFor();
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    expect(at.faults).toEqual([]);
  });

  test('what was entered stays when the session ends meanwhile', async () => {
    const { database, page } = at;
    await page.goto('/#/schedules');
    await page.getByText('New schedule').click();
    await page.getByLabel('Command (without packhouse)').fill('audit --sample 0.01');
    await database.operators.set('ada', { role: 'admin' });
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByLabel('Name', { exact: true }).and(page.locator('.sign-in input')).fill('ada');
    await page.keyboard.press('Enter');
    const command = page.getByLabel('Command (without packhouse)');
    await command.waitFor();
    expect(await command.inputValue()).toBe('audit --sample 0.01');
    expect(at.faults.splice(0).filter((fault) => !fault.includes('status of 401'))).toEqual([]);
  });

  test('a new key is shown once', async () => {
    const { page } = at;
    await page.goto('/#/keys');
    await page.getByText('New key').click();
    await page.getByLabel('Application (created if it is new)').fill('a new one');
    await page.getByRole('button', { name: 'Create' }).click();
    expect(await page.locator('pre').textContent()).toMatch(/^ph_[\w-]{20,}$/);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'a new one', exact: true }).waitFor();
    expect(await page.locator('pre').count()).toBe(0);
    expect(at.faults).toEqual([]);
  });

  test('a key is edited and rotated in place', async () => {
    const { database, page } = at;
    const { row } = await database.keys.create({ application: 'turning', network: null, plan: 'free' });
    await page.goto(`/#/keys/${row.prefix}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Allowed methods').fill('eth_call');
    expect(await getShownFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('eth_call').first().waitFor();
    await page.getByLabel('Hours the old secret keeps working').fill('2');
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    expect(await page.locator('pre').textContent()).toMatch(/^ph_[\w-]{20,}$/);
    await page.getByText('Old secret works until').waitFor();
    expect(await database.keys.list({ search: 'turning' })).toMatchObject([
      { methods: ['eth_call'], plan: { name: 'free' }, expiresAt: null, oldSecretUntil: expect.any(Date) },
    ]);
    expect(at.faults).toEqual([]);
  });

  test('backfills are selected and paused together', async () => {
    const { database, page } = at;
    await page.goto('/#/backfills?search=logs');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('checkbox').nth(1).check();
    const bar = page.getByRole('region', { name: 'Selected backfills' });
    await bar.getByText('2 backfills selected').waitFor();
    expect(await getShownFaults(page)).toEqual([]);
    await bar.getByRole('button', { name: 'Pause selected' }).click();
    await page
      .getByRole('status')
      .getByText(/\d paused/)
      .waitFor();
    const states = (await database.backfills.list()).map(({ state }) => state);
    expect(states.filter((state) => state === 'paused').length).toBeGreaterThanOrEqual(2);
    expect(at.faults).toEqual([]);
  });

  test('a webhook is added, tested, rotated and paused; secrets are shown once, and paths of addresses in no list', async () => {
    const { database, page } = at;
    await page.goto('/#/hooks?network=main');
    await page.getByText('New webhook').click();
    await page.getByLabel('URL').fill('https://example.com/in');
    await page.getByLabel('Only logs of these contracts').fill('0x12');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('takes 0x and 40 hex digits').waitFor();
    await page.getByLabel('Only logs of these contracts').fill(`0x${'A1'.repeat(20)}`);
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = await page.locator('pre').textContent();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.locator('main').textContent()).not.toContain(SECRET_PATH);
    const { id } = (await database.hooks.list({ after: undefined, limit: 9, network: 'main' })).at(-1) ?? {};
    await page.getByRole('link', { name: `${id}: example.com` }).click();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Waiting for a packer to send it…').waitFor();
    await database.hookDeliveries.noteTest(id ?? 0, 'Accepted in 12 ms.');
    await page.getByText('Accepted in 12 ms.').waitFor();
    await page.getByText('Rotate the secret').click();
    await page.getByLabel('Hours the old secret keeps signing').fill('48');
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    expect(await page.locator('pre').textContent()).toMatch(/^whsec_/);
    expect(await page.locator('pre').textContent()).not.toBe(secret);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Deliveries are also signed with the old secret until').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Only logs of these contracts').inputValue()).toBe(`0x${'a1'.repeat(20)}`);
    await page.getByLabel('URL').fill('https://moved.example/in');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('moved.example').first().waitFor();
    expect(await database.hooks.find(id ?? 0)).toMatchObject({
      state: 'paused',
      url: 'https://moved.example/in',
      kinds: ['logs'],
      addresses: [`0x${'a1'.repeat(20)}`],
    });
    expect(await getShownFaults(page)).toEqual([]);
    expect(at.faults.splice(0).filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  });

  test('a channel of notifications is added and tested; its address is never shown again', async () => {
    const { database, page } = at;
    await page.goto('/#/notifications');
    await page.getByText('New channel').click();
    await page.getByLabel('Recipients').fill('ada@example.com\nben@example.com');
    await page.getByLabel('Severity').selectOption('critical');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Sat 9:00' }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row', { name: 'ada@example.com, ben@example.com' });
    await row.getByText('quiet: Sat 09:00-10:00 Europe/Berlin').waitFor();
    const { id } = (await database.channels.list()).at(-1) ?? {};
    await row.getByRole('button', { name: 'Send test' }).click();
    await row.getByText('Waiting for a packer to send it…').waitFor();
    await database.channelMessages.noteTest(id ?? 0, 'The setting SMTP_URL is missing.');
    await row.getByText('The setting SMTP_URL is missing.').waitFor();

    await page.getByText('No packer runs now').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('region', { name: `Channel ${id}` });
    await form.getByLabel('Recipients').fill('cleo@example.com');
    await form.getByRole('button', { name: 'Sat 9:00' }).click();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: 'cleo@example.com' }).waitFor();
    expect(await database.channels.find(id ?? 0)).toMatchObject({ severity: 'critical', quiet: [] });

    await page.getByText('New channel').click();
    await page.getByLabel('Kind').selectOption('webhook');
    await page.getByLabel('URL').fill(`https://example.com/${SECRET_PATH}`);
    await page.getByRole('button', { name: 'Create' }).click();
    expect(await page.locator('pre').textContent()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    const webhook = page.getByRole('row', { name: 'Webhook' });
    await webhook.getByText('example.com').waitFor();
    await webhook.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Rotate the secret').click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    expect(await page.locator('pre').textContent()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(SECRET_PATH);
    expect(await getShownFaults(page)).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('a provider is capped in its row, in two clicks; what another operator changed first is shown', async () => {
    const { database, page } = at;
    await page.goto('/#/overview');
    await page.getByRole('link', { name: 'Budgets', exact: true }).first().click();
    const cell = (name: string) => page.getByLabel(`Limit per day of ${name}`);
    await database.budgets.change(
      'capped.example',
      () => ({
        provider: 'capped.example',
        unit: 'requests',
        weights: {},
        reserve: 0.1,
        perSecond: null,
        perDay: 1_000,
        perMonth: null,
        pricePerMillion: null,
        currency: null,
      }),
      'bob',
    );
    await expect.poll(() => cell('capped.example').inputValue()).toBe('1,000');
    await cell('capped.example').fill('5,000');
    await page.getByRole('button', { name: 'Save' }).click();
    const find = async () => (await database.budgets.list()).find(({ provider }) => /capped/.test(provider));
    await expect.poll(find).toMatchObject({ perDay: 5_000 });
    await cell('capped.example').fill('7');
    const other = await find();
    if (other !== undefined)
      await database.budgets.change(other.provider, () => ({ ...other, perDay: 9 }), 'bob');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('was changed by someone else').waitFor();
    expect(await find()).toMatchObject({ perDay: 9 });
    await cell('capped.example').press('Escape');
    await expect.poll(() => cell('capped.example').inputValue()).toBe('9');
    expect(await getShownFaults(page)).toEqual([]);
    expect(at.faults.splice(0).filter((fault) => !fault.includes('status of 4'))).toEqual([]);
  });

  test('the requests of a key are watched, without their parameters', async () => {
    const { database, page } = at;
    const { row } = await database.keys.create({ application: 'watched', network: null, plan: 'free' });
    await page.goto(`/#/keys/${row.prefix}`);
    await page.getByRole('button', { name: 'Watch for 10 minutes' }).click();
    await page.getByText(/^On until/).waitFor();
    const request = { network: 'main', calls: 1, ms: 4.2, units: 75, bytes: 900, leftOut: 0, params: null };
    await database.keyRequests.add([
      { keyId: row.id, at: new Date(), method: 'eth_getLogs', status: 429, outcome: 'rate', ...request },
    ]);
    await page.getByRole('row', { name: /eth_getLogs.*429.*4.2 ms.*75/ }).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}key-watched.png` });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Watch for 10 minutes' }).waitFor();
    expect(await database.keys.list({ search: 'watched' })).toMatchObject([{ loggedUntil: null }]);
    expect(await getShownFaults(page)).toEqual([]);
    expect(at.faults).toEqual([]);
  });

  test('an operator creates a restricted key, none that is unlimited, and no deletion', async () => {
    const { database } = at;
    await database.operators.add({ name: 'olga', role: 'operator', password: null });
    const command = ['audit', '--delete-orphans'];
    const terms = {
      owner: 'default',
      cron: '0 3 * * *',
      zone: 'UTC',
      everyMs: null,
      missed: 'once',
    } as const;
    await database.schedules.add({ name: 'cleaning', ...terms, command, setting: null }, 'ada');
    const olga = await at.signIn('olga');
    const own = olga.page;

    await own.goto('/#/keys');
    await own.getByText('New key').click();
    await own.getByLabel('Application (created if it is new)').fill('narrow');
    const plans = own.locator('select[name=plan]');
    await expect.poll(() => plans.inputValue()).toBe('standard');
    expect(await plans.locator('option:disabled').allTextContents()).toEqual(['unlimited (admins only)']);
    const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
    await own.getByLabel('Allowed contracts').fill(`${contract}\n0x${'1'.repeat(40)}`);
    await own.getByLabel('Max blocks per eth_getLogs').fill('2,000');
    await own.getByLabel('Allowed addresses').fill('10.0.0.0/8');
    expect(await getShownFaults(own)).toEqual([]);
    await own.getByRole('button', { name: 'Create' }).click();
    expect(await own.locator('pre').textContent()).toMatch(/^ph_[\w-]{20,}$/);
    await own.getByRole('button', { name: 'Done' }).click();
    await own.getByRole('row', { name: 'narrow' }).getByRole('link', { name: /^ph_/ }).click();
    await own.getByText(contract.toLowerCase()).first().waitFor();
    expect(await database.keys.list({ search: 'narrow' })).toMatchObject([
      {
        contracts: [contract.toLowerCase(), `0x${'1'.repeat(40)}`],
        maxLogRange: 2_000,
        addresses: ['10.0.0.0/8'],
        plan: { name: 'standard' },
        expiresAt: null,
      },
    ]);
    await own.screenshot({ path: `${SCREENSHOTS}key-restricted.png` });
    // What cannot be a contract is told, and the form keeps it.
    await own.goto('/#/keys');
    await own.getByText('New key').click();
    await own.getByLabel('Application (created if it is new)').fill('broken');
    await own.getByLabel('Allowed contracts').fill('0x12');
    await own.getByRole('button', { name: 'Create' }).click();
    await own.getByRole('alert').getByText('0x12').waitFor();
    expect(await own.getByLabel('Allowed contracts').inputValue()).toBe('0x12');
    expect(olga.faults.splice(0).filter((fault) => !fault.includes('status of 400'))).toEqual([]);

    await own.goto('/#/schedules');
    const cleaning = own.getByRole('row', { name: 'cleaning' });
    await cleaning.getByText('only admins').waitFor();
    const disabled = cleaning.locator('button:disabled');
    expect(await disabled.allTextContents()).toEqual(['Run now', 'Remove']);
    await cleaning.getByRole('button', { name: 'Pause' }).click();
    await cleaning.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await disabled.allTextContents()).toEqual(['Run now', 'Resume', 'Remove']);
    expect(await getShownFaults(own)).toEqual([]);
    expect(olga.faults).toEqual([]);
    await own.context().close();
  });

  test('the holder of a key sees his own usage and limits, and nothing else', async () => {
    const { database } = at;
    const { key, row } = await database.keys.create({ application: 'mine', network: null, plan: 'free' });
    const holder = await at.open();
    await holder.page.goto('/');
    await holder.page.getByLabel('API key').fill(key);
    await holder.page.keyboard.press('Enter');
    await holder.page.getByText(`${row.prefix} (owner)`).waitFor();
    await holder.page.getByText('eth_blockNumber').waitFor();
    expect(await getShownFaults(holder.page)).toEqual([]);
    const menu = holder.page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    expect(await menu.allTextContents()).toEqual(['Your key']);
    await holder.page.context().close();
  });
});
