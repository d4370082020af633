import { KINDS, type Kind } from '@packhouse/chain';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { kindCode } from '../connection/codes.js';
import { hashAt } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const ASKED = ['blocks', 'logs'] as const satisfies readonly Kind[];
const LAST = 400_000;
const blocks = fc
  .tuple(fc.integer({ min: 0, max: LAST }), fc.integer({ min: 0, max: 120_000 }))
  .map(([firstBlock, length]) => ({ firstBlock, lastBlock: firstBlock + length }));
const kinds = fc.subarray([...ASKED], { minLength: 1 });

/** $1 kind, $2 first block, $3 last block: a bundle, which triggers count. */
const PUBLISH = `
  INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
    format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
  SELECT id, $1::int2, $2::int8, $3::int8, 1, 1, 0, 1, h, h, h, h, format('%s %s', $1::int2, $2::int8), ''
  FROM packhouse.network, sha256('') AS h WHERE name = 'main'`;

/** Throws all errors but those of bundles that overlap. */
function unlessOverlap(error: { code?: string }): void {
  if (error.code !== '23P01' && error.code !== '23505') throw error;
}

it('columns of a chunk and more say what counting each column says, whatever is published and wanted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        published: fc.array(fc.tuple(blocks, kinds), { maxLength: 8 }),
        wanted: fc.array(fc.tuple(blocks, kinds, fc.constantFrom('active' as const, 'paused' as const)), {
          maxLength: 4,
        }),
        within: blocks,
        columns: fc.integer({ min: 1, max: 12 }),
      }),
      async ({ published, wanted, within, columns }) => {
        const { main, database } = open;
        await open.sql('TRUNCATE packhouse.bundle, packhouse.backfill');
        await main.head.set({ number: LAST, hash: hashAt(LAST), finalized: LAST - 1_000 });
        for (const [{ firstBlock: start, lastBlock: end }, some] of published) {
          // Those that overlap another one are refused.
          for (const kind of some) await open.sql(PUBLISH, [kindCode(kind), start, end]).catch(unlessOverlap);
        }
        for (const [range, some, state] of wanted) {
          const { id } = await main.backfills.add({
            from: range.firstBlock,
            to: range.lastBlock,
            kinds: some,
            priority: 1,
          });
          await database.backfills.change(id, { state });
        }
        const found = await main.holes.columns({ kinds: ASKED, range: within, columns });
        const { width } = found;
        const first = Math.floor(within.firstBlock / width);
        for (let at = 0; at < (found.kinds[0]?.columns.length ?? 0); at += 1) {
          const range = {
            firstBlock: Math.max((first + at) * width, within.firstBlock),
            lastBlock: Math.min((first + at + 1) * width - 1, within.lastBlock),
          };
          const counts = await main.holes.count({ kinds: ASKED, range });
          for (const [of, { missing }] of counts.entries()) {
            const column = found.kinds[of]?.columns[at];
            expect(column?.missing).toBe(Object.values(missing).reduce((sum, each) => sum + each, 0));
            expect(column?.reasons.sort()).toEqual(Object.keys(missing).sort());
          }
        }
      },
    ),
    { numRuns: 20 },
  );
});

it('columns are as wide as a chunk where very many runs are published, and as narrow as asked for beside them', async () => {
  await open.sql('TRUNCATE packhouse.bundle, packhouse.backfill');
  await open.sql(
    `INSERT INTO packhouse.published_run SELECT id, 3, n * 20, n * 20 + 11
     FROM packhouse.network, generate_series(0, 20000) AS n WHERE name = 'main'`,
  );
  const { columns } = open.main.holes;
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const all = await columns({ kinds: KINDS, range: { firstBlock: 0, lastBlock: 450_000 }, columns: 1_000 });
  const statements = query.mock.calls.filter(([asked]) => JSON.stringify(asked).includes('coverage/'));
  query.mockRestore();
  expect(statements.length).toBe(2);
  expect(all.width).toBe(16_384);
  expect(all.kinds.map((each) => each.columns.length)).toEqual(KINDS.map(() => 28));
  const some = await columns({
    kinds: KINDS,
    range: { firstBlock: 100_000, lastBlock: 100_999 },
    columns: 1_000,
  });
  expect(some.width).toBe(1);
  const logs = some.kinds.find(({ kind }) => kind === 'logs')?.columns ?? [];
  expect(logs.slice(0, 20).map(({ missing }) => missing)).toEqual([
    ...Array<number>(12).fill(0),
    ...Array<number>(8).fill(1),
  ]);
  await open.sql('DELETE FROM packhouse.published_run');
});
