import type pg from 'pg';
import type { AppliedSchema } from './compare-schema.js';

/** Reads the ledger of migrations and what they declare; nothing where there is no ledger yet. */
export async function selectApplied(client: pg.ClientBase | pg.Pool): Promise<AppliedSchema> {
  const { rows } = await client.query<{ ledger: boolean; declared: boolean }>(
    `SELECT to_regclass('packhouse.migration') IS NOT NULL AS ledger,
       to_regclass('packhouse.compatibility') IS NOT NULL AS declared`,
  );
  if (rows[0]?.ledger !== true) return { migrations: [], breaking: null };
  const applied = await client.query<{ name: string }>('SELECT name FROM packhouse.migration ORDER BY id');
  const migrations = applied.rows.map((row) => row.name);
  if (!rows[0].declared) return { migrations, breaking: null };
  const breaking = await client.query<{ migration: string; minimum: number }>(
    'SELECT migration, minimum FROM packhouse.compatibility ORDER BY minimum DESC, migration LIMIT 1',
  );
  return { migrations, breaking: breaking.rows[0] ?? null };
}
