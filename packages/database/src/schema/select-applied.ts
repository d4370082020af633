import type pg from 'pg';

/** Names in the ledger of migrations; none where there is no ledger yet. */
export async function selectApplied(client: pg.ClientBase | pg.Pool): Promise<string[]> {
  const ledger = await client.query<{ there: boolean }>(
    "SELECT to_regclass('packhouse.migration') IS NOT NULL AS there",
  );
  if (ledger.rows[0]?.there !== true) return [];
  const applied = await client.query<{ name: string }>('SELECT name FROM packhouse.migration ORDER BY id');
  return applied.rows.map((row) => row.name);
}
