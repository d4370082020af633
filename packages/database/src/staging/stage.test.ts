import { KINDS } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashAt, makeBundle, makeFragment, makeRun } from '../testing/make-run.js';
import { emptyTables, type OpenDatabase, openDatabase } from '../testing/open-database.js';
import { SEGMENT_BLOCKS } from './segments.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());
beforeEach(() => emptyTables(open));

const counts = async () =>
  (
    await open.sql<{ blocks: string; fragments: string }>(
      `SELECT (SELECT count(*) FROM packhouse.staged_block) AS blocks,
              (SELECT count(*) FROM packhouse.fragment) AS fragments`,
    )
  ).map(({ blocks, fragments }) => ({ blocks: Number(blocks), fragments: Number(fragments) }))[0];

const conflict = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPackhouseError(error, 'STAGE_CONFLICT'))
    throw new Error(`expected STAGE_CONFLICT, got ${String(error)}`);
  return error.data;
};

it('gives back the blocks, fragments and bodies that were staged', async () => {
  const run = makeRun(10, 15, { blocksAFragment: 4 });
  expect(await open.main.staging.stage(run)).toEqual({ staged: true });
  expect(await open.main.staging.blocks({ firstBlock: 0, lastBlock: 100 })).toEqual(run.blocks);
  expect(await open.main.staging.blocks({ firstBlock: 12, lastBlock: 13 })).toEqual(run.blocks.slice(2, 4));
  expect(await open.main.staging.newest()).toEqual(run.blocks.at(-1));
  const { fragments } = run.kinds[3]!;
  const infos = fragments.map(({ body: _, ...info }) => info);
  expect(await open.main.staging.fragments('logs', { firstBlock: 13, lastBlock: 14 })).toEqual(infos);
  expect(await open.main.staging.fragments('logs', { firstBlock: 14, lastBlock: 200 })).toEqual(
    infos.slice(1),
  );
  const bodies = await open.main.staging.bodies('logs', [14, 10]);
  expect(bodies).toEqual([fragments[1]!.body, fragments[0]!.body]);
});

it('passes on bodies of every size unharmed, empty and larger than any buffer', async () => {
  const sizes = [0, 1, 8_191, 8_192, 65_535, 65_536, 3_000_000];
  const run = makeRun(0, sizes.length - 1, { kinds: ['traces'] });
  const fragments = sizes.map((size, number) => ({
    ...makeFragment('traces', number, number),
    body: Buffer.alloc(size, Buffer.from([number, 0xff, 0x80, 0xc3])),
    byteLength: size,
  }));
  await open.main.staging.stage({ ...run, kinds: [{ kind: 'traces', fragments }] });
  const bodies = await open.main.staging.bodies(
    'traces',
    sizes.map((_, number) => number),
  );
  expect(bodies.map((body) => body.length)).toEqual(sizes);
  expect(bodies.every((body, number) => body.equals(fragments[number]!.body))).toBe(true);
});

it('gives back the items of fragments, none included, and says which have none', async () => {
  const run = makeRun(0, 3, { kinds: ['logs'] });
  const items = [Buffer.alloc(20, 0xc3), Buffer.alloc(0), undefined, Buffer.alloc(30_000, 0xff)];
  const [staged] = run.kinds;
  const fragments = staged!.fragments.map((fragment, at) => ({
    ...fragment,
    ...(items[at] === undefined ? {} : { items: items[at] }),
  }));
  await open.main.staging.stage({ ...run, kinds: [{ kind: 'logs', fragments }] });
  const places = fragments.map(({ body }) => Buffer.alloc(body.length));
  expect(await open.main.staging.readInto('logs', [...fragments].reverse(), [...places].reverse())).toEqual(
    items.map((one) => one ?? null).reverse(),
  );
  expect(places).toEqual(fragments.map(({ body }) => body));
});

it('reads no fragment into the place of another one that began there', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  const [first, second] = await open.main.staging.fragments('logs', { firstBlock: 0, lastBlock: 1 });
  const place = () => Buffer.alloc(second!.byteLength);
  for (const other of [
    { ...second!, crc32: second!.crc32 + 1 },
    { ...second!, firstBlock: 9, lastBlock: 9 },
  ]) {
    const read = open.main.staging.readInto('logs', [first!, other], [place(), place()]);
    expect(await conflict(read)).toMatchObject({ number: other.firstBlock });
  }
  const short = [Buffer.alloc(second!.byteLength - 1)];
  expect(await conflict(open.main.staging.readInto('logs', [second!], short))).toMatchObject({ number: 1 });
});

it('names the fragment that is gone when its body is asked for', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  expect(await conflict(open.main.staging.bodies('blocks', [2, 7]))).toMatchObject({ number: 7 });
});

it('changes nothing when it is repeated', async () => {
  const run = makeRun(0, 9);
  await open.main.staging.stage(run);
  const before = await open.sql('SELECT *, xmin::text FROM packhouse.fragment ORDER BY kind, first_block');
  expect(await open.main.staging.stage(run)).toEqual({ staged: false });
  expect(await open.sql('SELECT *, xmin::text FROM packhouse.fragment ORDER BY kind, first_block')).toEqual(
    before,
  );
});

it('stages a run once though ten processes stage it at the same time', async () => {
  const run = makeRun(2_048, 2_057);
  const processes = Array.from({ length: 10 }, () => open.another());
  const outcomes = await Promise.all(
    processes.map((database) => database.network('main').staging.stage(run)),
  );
  expect(outcomes.filter(({ staged }) => staged)).toHaveLength(1);
  expect(await counts()).toEqual({ blocks: 10, fragments: 50 });
});

it('adds kinds to blocks that were staged without them, and what was proved of them', async () => {
  await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks'] }));
  const more = makeRun(0, 3, { kinds: ['blocks', 'traces'] });
  const blocks = more.blocks.map((block) => ({ ...block, proofs: ['traces'] as const }));
  expect(await open.main.staging.stage({ ...more, blocks })).toEqual({ staged: true });
  expect(await counts()).toEqual({ blocks: 4, fragments: 8 });
  expect((await open.main.staging.blocks({ firstBlock: 0, lastBlock: 0 }))[0]!.proofs).toEqual([
    'headerHash',
    'parentLink',
    'traces',
  ]);
});

it('leaves out what is published of each kind and writes the rest', async () => {
  await open.main.bundles.publish(makeBundle('blocks', 0, 9));
  expect(await open.main.staging.stage(makeRun(0, 9, { kinds: ['blocks'] }))).toEqual({ staged: false });
  expect(await open.main.staging.stage(makeRun(0, 9, { kinds: ['blocks', 'logs'] }))).toEqual({
    staged: true,
  });
  expect(await counts()).toEqual({ blocks: 10, fragments: 10 });
});

it('leaves out a fragment that overlaps one that is there, so that no block is there twice', async () => {
  await open.main.staging.stage(makeRun(4, 7, { kinds: ['logs'], blocksAFragment: 4 }));
  const wide = makeRun(2, 11, { kinds: ['logs'], blocksAFragment: 4 });
  expect(await open.main.staging.stage(wide)).toEqual({ staged: true });
  const { staged } = await open.main.coverage('logs');
  expect(staged).toEqual([
    { firstBlock: 4, lastBlock: 7 },
    { firstBlock: 10, lastBlock: 11 },
  ]);
});

describe('refuses hashes that do not fit', () => {
  it('the staged block before, on the same segment and across its border', async () => {
    await open.main.staging.stage(makeRun(SEGMENT_BLOCKS - 4, SEGMENT_BLOCKS - 1));
    expect(
      await conflict(open.main.staging.stage(makeRun(SEGMENT_BLOCKS, SEGMENT_BLOCKS + 2, { branch: 'b' }))),
    ).toEqual({
      network: 'main',
      number: SEGMENT_BLOCKS - 1,
      expected: hashAt(SEGMENT_BLOCKS - 1),
      got: hashAt(SEGMENT_BLOCKS - 1, 'b'),
      by: SEGMENT_BLOCKS - 1,
      published: false,
    });
    await open.main.staging.stage(makeRun(10, 11));
    expect(await conflict(open.main.staging.stage(makeRun(12, 12, { branch: 'b' })))).toMatchObject({
      number: 11,
    });
    expect(await counts()).toEqual({ blocks: 6, fragments: 30 });
  });

  it('the staged block behind', async () => {
    await open.main.staging.stage(makeRun(SEGMENT_BLOCKS, SEGMENT_BLOCKS + 1));
    const before = makeRun(SEGMENT_BLOCKS - 2, SEGMENT_BLOCKS - 1, { branch: 'b' });
    expect(await conflict(open.main.staging.stage(before))).toMatchObject({
      number: SEGMENT_BLOCKS - 1,
      expected: hashAt(SEGMENT_BLOCKS - 1),
    });
  });

  it('the same block staged before', async () => {
    await open.main.staging.stage(makeRun(5, 5));
    expect(await conflict(open.main.staging.stage(makeRun(5, 5, { branch: 'b' })))).toMatchObject({
      got: expect.stringMatching(/^0x/),
    });
  });

  it('the ends of bundles on both sides', async () => {
    await open.main.bundles.publish(makeBundle('receipts', 0, 9));
    await open.main.bundles.publish(makeBundle('traces', 20, 29));
    expect(await conflict(open.main.staging.stage(makeRun(10, 12, { branch: 'b' })))).toMatchObject({
      number: 9,
      expected: hashAt(9),
    });
    expect(await conflict(open.main.staging.stage(makeRun(18, 19, { branch: 'b' })))).toMatchObject({
      number: 19,
      expected: hashAt(19),
    });
    expect(await open.main.staging.stage(makeRun(10, 19))).toEqual({ staged: true });
  });

  it('a block inside a run whose parent is not the one before', async () => {
    const run = makeRun(0, 3);
    const blocks = run.blocks.map((block) =>
      block.number === 2 ? { ...block, parentHash: hashAt(9) } : block,
    );
    expect(await conflict(open.main.staging.stage({ ...run, blocks }))).toMatchObject({ number: 1 });
    expect(await counts()).toEqual({ blocks: 0, fragments: 0 });
  });

  it('one of two runs of different branches that meet at a border, staged at the same moment', async () => {
    for (let border = 3 * SEGMENT_BLOCKS; border < 13 * SEGMENT_BLOCKS; border += SEGMENT_BLOCKS) {
      const outcomes = await Promise.allSettled([
        open.main.staging.stage(makeRun(border - 2, border - 1)),
        open.main.staging.stage(makeRun(border, border + 1, { branch: 'b' })),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

it('refuses runs with gaps, across a border, or whose fragments do not cover them', async () => {
  const run = makeRun(0, 3);
  const bad = [
    { ...run, blocks: [] },
    { ...run, blocks: run.blocks.filter(({ number }) => number !== 2) },
    makeRun(SEGMENT_BLOCKS - 1, SEGMENT_BLOCKS),
    { ...run, kinds: [{ kind: 'logs' as const, fragments: run.kinds[0]!.fragments.slice(1) }] },
    { ...run, kinds: [{ kind: 'logs' as const, fragments: run.kinds[0]!.fragments.slice(0, 3) }] },
  ];
  for (const request of bad)
    await expect(open.main.staging.stage(request)).rejects.toMatchObject({ code: 'INTERNAL' });
  await expect(open.database.network('nowhere').staging.stage({ ...run })).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
});

it('leaves nothing behind when the backend is killed in the middle (invariant 5)', async () => {
  await open.main.staging.stage(makeRun(100, 100));
  // A stage call stops at the first COPY, in the middle of its transaction, until this lock is released.
  await open.sql(`CREATE FUNCTION packhouse.halt() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(77, 77); RETURN NEW; END $$`);
  await open.sql(`CREATE TRIGGER halt BEFORE INSERT ON packhouse.fragment_1_0
    FOR EACH ROW EXECUTE FUNCTION packhouse.halt()`);
  const holder = new pg.Client({ connectionString: open.url });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(77, 77)');
  try {
    const failed = open.main.staging.stage(makeRun(0, 5)).then(
      () => undefined,
      (error: unknown) => error,
    );
    const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted`;
    let pid: number | undefined;
    while (pid === undefined) pid = (await open.sql<{ pid: number }>(waiting))[0]?.pid;
    await open.sql('SELECT pg_terminate_backend($1)', [pid]);
    expect(isPackhouseError(await failed, 'DATABASE_UNAVAILABLE')).toBe(true);
    expect(await counts()).toEqual({ blocks: 1, fragments: 5 });
  } finally {
    await holder.end();
    await open.sql('DROP TRIGGER halt ON packhouse.fragment_1_0');
    await open.sql('DROP FUNCTION packhouse.halt');
  }
  expect(await open.main.staging.stage(makeRun(0, 5))).toEqual({ staged: true });
  expect(await open.main.staging.fragments(KINDS[0], { firstBlock: 0, lastBlock: 9 })).toHaveLength(6);
});
