import { createHash } from 'node:crypto';
import { encodeFragmentTable } from '@packhouse/bundle';
import { KINDS } from '@packhouse/chain';
import pg from 'pg';

/** A filled range index. */
export interface FilledIndex {
  rows: number;
  /** Blocks 0 to this one are covered, of every kind. */
  lastBlock: number;
  seconds: number;
  /** Table and indexes on disk. */
  diskBytes: number;
}

/** Blocks of a bundle, as mainnet whole has them: 23 million blocks in two million bundles a kind. */
const BLOCKS_A_BUNDLE = 12;

/**
 * Fills the range index of a network by one statement, straight into the table.
 *
 * Keys and triggers are removed meanwhile. The exclusion constraint is restored as its index only, with the same size:
 * checking ten million rows one by one takes most of ten minutes, and no measurement writes. A separate statement
 * computes the totals of the triggers. With `gapEvery` one bundle is left out after each so many.
 */
export async function fillIndex(
  url: string,
  network: string,
  rows: number,
  { gapEvery = 0 }: { gapEvery?: number } = {},
): Promise<FilledIndex> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const startedAt = performance.now();
  try {
    const bundles = Math.ceil(rows / KINDS.length);
    const found = await client.query<{ id: number }>('SELECT id FROM packhouse.network WHERE name = $1', [
      network,
    ]);
    const id = (found.rows[0] as { id: number }).id;
    const constraints = await client.query<{ name: string; definition: string }>(
      `SELECT conname AS name, pg_get_indexdef(conindid) AS definition FROM pg_constraint
       WHERE conrelid = 'packhouse.bundle'::regclass AND contype IN ('p', 'x')`,
    );
    // Writes to a table that was emptied in the same transaction need no write-ahead log (wal_level minimal).
    await client.query("BEGIN; SET LOCAL maintenance_work_mem = '1GB'");
    await client.query('TRUNCATE packhouse.bundle');
    await client.query('ALTER TABLE packhouse.bundle DISABLE TRIGGER USER');
    for (const { name } of constraints.rows) {
      await client.query(`ALTER TABLE packhouse.bundle DROP CONSTRAINT ${name}`);
    }
    await client.query(INSERT_BUNDLES, [
      id,
      network,
      KINDS,
      bundles,
      BLOCKS_A_BUNDLE,
      sampleTable(),
      gapEvery,
    ]);
    for (const { definition } of constraints.rows) await client.query(definition);
    await client.query('ALTER TABLE packhouse.bundle ENABLE TRIGGER USER');
    await client.query(INSERT_TOTALS);
    await client.query(INSERT_RUNS);
    await client.query(INSERT_CHUNKS);
    await client.query(INSERT_PACE);
    await client.query('COMMIT');
    // As autovacuum does in time: lookups then read the primary key alone.
    await client.query(
      'VACUUM (FREEZE, ANALYZE) packhouse.bundle, packhouse.published_run, packhouse.published_chunk, packhouse.published_pace',
    );
    const size = await client.query<{ bytes: string }>(
      `SELECT pg_total_relation_size('packhouse.bundle')::text AS bytes`,
    );
    return {
      rows: bundles * KINDS.length,
      lastBlock: (bundles + gaps(bundles, gapEvery)) * BLOCKS_A_BUNDLE - 1,
      seconds: (performance.now() - startedAt) / 1000,
      diskBytes: Number(size.rows[0]?.bytes),
    };
  } finally {
    await client.end();
  }
}

function gaps(bundles: number, gapEvery: number): number {
  return gapEvery === 0 ? 0 : Math.floor((bundles - 1) / gapEvery);
}

/**
 * $1 network id, $2 its name, $3 kinds by code, $4 bundles a kind, $5 blocks a bundle, $6 fragment table, $7 bundles
 * between two gaps or 0.
 */
const INSERT_BUNDLES = `
  INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
                                format_version, sha256, first_hash, first_parent_hash, last_hash, object_key,
                                fragments)
  SELECT $1::smallint, (kind.at - 1)::smallint, n * $5::int8, (n + 1) * $5::int8 - 1, 1000000, 5000000, 31, 1,
         hash, hash, hash, hash,
         format('%s/%s/%s-%s.json.gz', $2::text, kind.name, n * $5::int8, (n + 1) * $5::int8 - 1), $6::bytea
  FROM unnest($3::text[]) WITH ORDINALITY AS kind (name, at),
       generate_series(0::int8, $4::int8 - 1) AS bundle,
       LATERAL (SELECT bundle + CASE WHEN $7::int8 = 0 THEN 0 ELSE bundle / $7::int8 END AS n) AS place,
       LATERAL (SELECT sha256(int8send(n * 8 + kind.at)) AS hash) AS hashed`;

const INSERT_TOTALS = `
  INSERT INTO packhouse.published (network_id, kind, bundles, blocks, bytes, newest_at)
  SELECT network_id, kind, count(*), sum(last_block - first_block + 1), sum(byte_length), max(published_at)
  FROM packhouse.bundle
  GROUP BY network_id, kind`;

const INSERT_RUNS = `
  INSERT INTO packhouse.published_run (network_id, kind, first_block, last_block)
  SELECT network_id, kind, lower(run), upper(run) - 1
  FROM (
    SELECT network_id, kind, range_agg(int8range(first_block, last_block, '[]')) AS ranges
    FROM packhouse.bundle GROUP BY network_id, kind
  ) AS g, unnest(ranges) AS run`;

const INSERT_CHUNKS = `
  INSERT INTO packhouse.published_chunk (network_id, kind, chunk, blocks, version)
  SELECT network_id, kind, n, sum(least(last_block, n * 16384 + 16383) - greatest(first_block, n * 16384) + 1), 1
  FROM packhouse.published_run, generate_series(first_block / 16384, last_block / 16384) AS n
  GROUP BY network_id, kind, n
  ON CONFLICT (network_id, kind, chunk)
  DO UPDATE SET blocks = excluded.blocks, version = published_chunk.version + 1`;

/** As if all of it had been published within ten minutes. */
const INSERT_PACE = `
  INSERT INTO packhouse.published_pace (network_id, kind, chunk, slot, blocks)
  SELECT network_id, kind, chunk, floor(extract(epoch FROM now()) / 600)::int4, blocks FROM packhouse.published_chunk`;

/** The fragments of a bundle of modern blocks: one per block, the same for every first block. */
function sampleTable(): Buffer {
  return encodeFragmentTable(
    Array.from({ length: BLOCKS_A_BUNDLE }, (_, at) => ({
      firstBlock: at,
      lastBlock: at,
      byteLength: 83_000 + at * 17,
      rawLength: 400_000 + at * 91,
      crc32: createHash('sha256').update(String(at)).digest().readUInt32LE(0),
    })),
  );
}
