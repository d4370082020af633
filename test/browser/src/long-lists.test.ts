import { randomUUID } from 'node:crypto';
import type { Database } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import { describe, expect, test } from 'vitest';
import { toReports } from './pictures/fill-showcase.js';
import { usePages, WITHOUT_CHROMIUM } from './testing/use-pages.js';

const NODES = 900;
/** Rows of a table of 900 that may be in the page. */
const MAX_ROWS = 150;

describe.skipIf(WITHOUT_CHROMIUM)('long lists in Chromium (needs chromium)', () => {
  const at = usePages(async ({ database, databaseUrl }) => {
    await database.operators.add({ name: 'ada', role: 'operator', password: null });
    await database.networks.register({ id: 'main', chainId: 1 });
    await fillNodes(database, databaseUrl);
  });

  test('of 900 nodes those in sight are in the page, and the others when one scrolls there', async () => {
    const { page, faults } = at;
    await page.goto('/#/nodes');
    const table = page.getByRole('region', { name: 'Nodes' });
    const rows = table.locator('tr[aria-rowindex]');
    const node = (name: string) => table.getByText(name, { exact: true });
    await node('node-000').first().waitFor();
    expect(await table.locator('table').getAttribute('aria-rowcount')).toBe(String(NODES + 1));
    expect(await rows.count()).toBeLessThan(MAX_ROWS);
    expect(await node('node-899').count()).toBe(0);
    // A page has its whole height from the first on; what is measured meanwhile moves the end.
    await expect
      .poll(async () => {
        await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
        return node('node-899').count();
      })
      .toBeGreaterThan(0);
    expect(await rows.count()).toBeLessThan(MAX_ROWS);
    expect(await node('node-000').count()).toBe(0);
    await page.evaluate('window.scrollTo(0, 0)');
    await node('node-000').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    await expect.poll(() => rows.count()).toBe(NODES);
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    await expect.poll(() => rows.count()).toBeLessThan(MAX_ROWS);
    expect(faults).toEqual([]);
  });

  test('backfills are filtered by state, done ones too, and by owner, and the address says so', async () => {
    const { database, page, faults } = at;
    const { backfills } = database.network('main');
    const terms = { kinds: ['logs'], priority: 5 } as const;
    const done = await backfills.add({ ...terms, from: 0, to: 9, owner: 'team' });
    const open = await backfills.add({ ...terms, from: 10, to: 19 });
    await runSql(
      at.databaseUrl,
      `UPDATE packhouse.backfill SET done = true, done_at = now() WHERE id = ${done.id}`,
    );
    await page.goto('/#/backfills');
    const link = ({ id }: { id: number }) =>
      page.getByRole('region', { name: 'Backfills' }).getByRole('link', { name: String(id), exact: true });
    await link(open).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await link(done).waitFor();
    await expect.poll(() => link(open).count()).toBe(0);
    expect(page.url()).toContain('state=done');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await link(open).waitFor();
    await page.getByLabel('Owner').selectOption('team');
    await expect.poll(() => link(open).count()).toBe(0);
    expect(await link(done).count()).toBe(1);
    expect(page.url()).toContain('owner=team');
    expect(faults).toEqual([]);
  });
});

/** Reports that stay fresh. */
async function fillNodes(database: Database, databaseUrl: string): Promise<void> {
  const nodes = Array.from({ length: NODES }, (_, at) => ({ name: `node-${String(at).padStart(3, '0')}` }));
  // Without what each of them has to open: a table of so many takes its time.
  const rows = toReports({ id: 'main', head: 7, nodes }).map((row) => {
    return { ...row, report: { ...row.report, methods: [], errors: [] } };
  });
  await database.nodes.report({ process: randomUUID(), role: 'ingester', host: 'here' }, rows);
  await runSql(databaseUrl, `UPDATE packhouse.node_report SET seen_at = now() + interval '1 hour'`);
}
