import { KINDS, type Kind } from '@packhouse/chain';
import { seededRandom } from '@packhouse/local';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../create-database.js';
import { makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const SEED = 29_004;
const ACTS = 240;
/** Blocks around the border of a chunk, so that counts are of parts of chunks and of whole ones. */
const [FIRST, LAST] = [16_300, 16_460];
const FINALIZED = 16_430;
const HEAD = 16_450;
const TOGETHER: readonly Kind[] = ['blocks', 'logs'];
const hash = `0x${'0'.repeat(64)}`;
/** What a concurrent change may have made impossible. */
const REFUSED = [
  'BUNDLE_OVERLAP',
  'STAGE_CONFLICT',
  'BUNDLE_CHANGED',
  'REORG_DETECTED',
  'DATABASE_UNAVAILABLE',
];

type Random = ReturnType<typeof seededRandom>;

it('what is kept is what a count of every block says, whatever many processes do and wherever they are killed', async () => {
  const random = seededRandom(SEED);
  const handles = [open.database, open.another(), open.another()];
  await open.database.networks.register({ id: 'side', chainId: 2 });
  const ids: number[] = [];
  for (const network of ['main', 'side']) {
    const { head, backfills } = open.database.network(network);
    await head.set({ number: HEAD, hash, finalized: FINALIZED });
    for (let at = 0; at < 12; at += 1) {
      const from = FIRST + random.below(100);
      const kinds = at % 3 === 0 ? TOGETHER : ([TOGETHER[at % 2]] as Kind[]);
      const to = at === 5 ? null : from + 1 + random.below(60);
      ids.push((await backfills.add({ kinds, from, to, priority: 5 })).id);
    }
  }
  for (let done = 0; done < ACTS; done += handles.length) {
    await Promise.all(
      handles.map((handle) =>
        act(handle, ids, random).catch((error: { code?: string }) => {
          expect(REFUSED).toContain(error.code);
        }),
      ),
    );
    if (done % 40 < handles.length) await check(ids);
  }
  await check(ids);
});

/** One change at a random place, or the end of all sessions that a process has. */
async function act(handle: Database, ids: readonly number[], random: Random): Promise<void> {
  const network = handle.network(random.unit() < 0.5 ? 'main' : 'side');
  const kind = random.pick(TOGETHER);
  const first = FIRST + random.below(LAST - FIRST);
  const last = Math.min(first + random.below(12), LAST);
  const id = random.pick(ids);
  const chance = random.unit();
  if (chance < 0.3) await network.bundles.publish(makeBundle(kind, first, last));
  else if (chance < 0.4) {
    // Of one segment; the border of a chunk is one too.
    const end = first < 16_384 ? Math.min(last, 16_383) : last;
    await network.staging.stage(makeRun(first, end, { kinds: [kind] }));
  } else if (chance < 0.5) {
    const why = { cause: 'PROOF_FAILED', message: '', upstream: null, payloadDigest: null };
    await network.quarantine.put({ ...why, firstBlock: first, lastBlock: last, kinds: [kind] });
  } else if (chance < 0.55) await network.quarantine.settle({ firstBlock: first, lastBlock: last }, [kind]);
  else if (chance < 0.6) await network.quarantine.retry({ firstBlock: first, lastBlock: last });
  else if (chance < 0.78) {
    const state = random.pick(['active', 'paused', 'cancelled'] as const);
    await handle.backfills.change(id, { state });
  } else if (chance < 0.84) await network.staging.abandon(first);
  else if (chance < 0.9)
    await open.sql('DELETE FROM packhouse.bundle WHERE first_block % 7 = $1', [first % 7]);
  else if (chance < 0.95) {
    const [current] = await network.bundles.list(kind, first, 1);
    if (current === undefined) return;
    const { firstBlock, lastBlock, version, sha256 } = current;
    const next = { sha256: `${version}0`.repeat(32).slice(0, 64), objectKey: `v${version + 1}.json.gz` };
    const bundle = { ...makeBundle(kind, firstBlock, lastBlock), ...next };
    await network.bundles.supersede(bundle, { replaces: sha256, reason: 'test' });
  } else {
    await open.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'packhouse test'`);
  }
}

/** Every block of the backfills by the tables of what was done. $1 ids. */
const BY_BLOCK = `
  SELECT w.id, k.kind::int4, s.state, count(*)::int4 AS blocks
  FROM packhouse.backfill AS w JOIN packhouse.head AS h USING (network_id),
    generate_series(0, 7) AS k (kind), generate_series(w.first_block, coalesce(w.last_block, h.block)) AS b (block),
    LATERAL (SELECT EXISTS (SELECT FROM packhouse.bundle AS p WHERE p.network_id = w.network_id
        AND p.kind = k.kind AND b.block BETWEEN p.first_block AND p.last_block) AS published,
      EXISTS (SELECT FROM packhouse.fragment AS f WHERE f.network_id = w.network_id
        AND f.kind = k.kind AND b.block BETWEEN f.first_block AND f.last_block) AS staged,
      EXISTS (SELECT FROM packhouse.quarantine AS q WHERE q.network_id = w.network_id
        AND (q.kinds >> k.kind) & 1 = 1 AND b.block BETWEEN q.first_block AND q.last_block) AS quarantined,
      (SELECT array_agg(o.state) FROM packhouse.backfill AS o WHERE o.network_id = w.network_id
        AND (o.kinds >> k.kind) & 1 = 1 AND b.block BETWEEN o.first_block
        AND coalesce(o.last_block, b.block)) AS requested) AS x,
    LATERAL (SELECT CASE
      WHEN x.published THEN 'published'
      WHEN x.staged THEN CASE WHEN b.block > h.finalized THEN 'not-finalized' ELSE 'staged' END
      WHEN b.block > h.block THEN 'not-produced'
      WHEN x.quarantined AND x.requested && '{active,paused}' THEN 'quarantined'
      WHEN x.requested && '{active}' THEN CASE WHEN b.block > h.finalized THEN 'not-finalized' ELSE 'waiting' END
      WHEN x.requested && '{paused}' THEN 'paused'
      ELSE 'cancelled' END AS state) AS s
  WHERE w.id = ANY ($1) AND (w.kinds >> k.kind) & 1 = 1
  GROUP BY w.id, k.kind, s.state`;

async function check(ids: readonly number[]): Promise<void> {
  const { backfills } = open.database;
  const ranges = await backfills.findAll(ids);
  const wanted = ranges.map(({ network, kinds, from, to }) => {
    return { network, kinds, range: { firstBlock: from, lastBlock: to ?? HEAD } };
  });
  const counts = await backfills.counts(wanted, new Map());
  const kept = ranges.map(({ id }, at) => {
    const rows = (counts[at] ?? []).flatMap(({ kind, published, missing }) =>
      Object.entries({ ...missing, ...(published > 0 ? { published } : {}) }).map(
        ([state, blocks]) => `${kind} ${state} ${blocks}`,
      ),
    );
    return [id, rows.sort()] as const;
  });
  type Row = { id: number; kind: number; state: string; blocks: number };
  const rows = await open.sql<Row>(BY_BLOCK, [ids]);
  const counted = ranges.map(({ id }) => {
    const own = rows.filter((row) => Number(row.id) === id);
    return [id, own.map(({ kind, state, blocks }) => `${KINDS[kind]} ${state} ${blocks}`).sort()] as const;
  });
  expect(kept).toEqual(counted);

  const since = new Date(Date.now() - 3_600_000);
  const paces = await backfills.paces(ranges.map((range) => ({ ...range, since })));
  const published = await open.sql<{ id: number; blocks: number }>(
    `SELECT id, coalesce(max(blocks), 0)::int4 AS blocks FROM packhouse.backfill AS w LEFT JOIN LATERAL (
       SELECT sum(least(b.last_block, coalesce(w.last_block, b.last_block)) - greatest(b.first_block, w.first_block) + 1) AS blocks
       FROM packhouse.bundle AS b WHERE b.network_id = w.network_id AND (w.kinds >> b.kind) & 1 = 1 AND b.version = 1
         AND b.last_block >= w.first_block AND b.first_block <= coalesce(w.last_block, b.first_block)
       GROUP BY b.kind
     ) AS p ON true WHERE id = ANY ($1) GROUP BY id`,
    [ids],
  );
  const byId = new Map(published.map(({ id, blocks }) => [Number(id), blocks]));
  expect(paces.map(({ blocks }) => blocks)).toEqual(ids.map((id) => byId.get(id)));
}
