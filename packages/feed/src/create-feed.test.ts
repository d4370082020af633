import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Feed } from './create-feed.js';
import { createCursors } from './cursor.js';
import type { FeedOptions } from './read-steps.js';
import { type FeedWorld, hashOf, inShort, makeFeedWorld, NETWORK, READ } from './testing/feed-world.js';

let world: FeedWorld;
let feed: Feed;
beforeEach(async () => {
  world = await makeFeedWorld(inject('postgresUrl'));
  feed = world.openFeed();
});
afterEach(() => world.close());

/** Reads on from a cursor. */
async function read(cursor: string, options: Partial<FeedOptions> = {}) {
  world.later();
  const page = await feed.read(cursor, { ...READ, ...options });
  return { ...page, short: page.steps.map(inShort) };
}

function quarantine(firstBlock: number): Promise<unknown> {
  const row = { kinds: ['logs'], cause: 'PROOF_FAILED', message: 'No.' } as const;
  return world.main.quarantine.put({ ...row, firstBlock, upstream: null, payloadDigest: null });
}

describe('steps', () => {
  it('are the files of history in block order over the kinds, then blocks, then what is waited for', async () => {
    await world.stage(0, 24, ['blocks', 'logs']);
    await world.publish('blocks', 0, 9);
    await world.publish('blocks', 10, 19);
    await world.publish('logs', 0, 14);
    await world.setHead(24, 21);
    const { short, steps } = await read(await feed.begin({ kinds: ['logs', 'blocks'], from: 0 }));
    expect(short).toEqual([
      'bundle blocks 0-9',
      'bundle logs 0-14',
      'bundle blocks 10-19',
      'new 15 logs',
      'new 16 logs',
      'new 17 logs',
      'new 18 logs',
      'new 19 logs',
      'new 20 blocks,logs',
      'new 21 blocks,logs',
      'new 22 blocks,logs',
      'new 23 blocks,logs',
      'new 24 blocks,logs',
      'final 21',
      'waiting 25 not-produced',
    ]);
    expect(steps[0]).toMatchObject({ download_link: 'http://files/blocks/0-9.json.gz', from: 0, bytes: 100 });
    expect(steps[8]).toMatchObject({
      hash: hashOf(20),
      parent: hashOf(19),
      files: {
        blocks: `http://files/blocks/20-20.json.gz?hash=${hashOf(20)}`,
        logs: `http://files/logs/20-20.json.gz?hash=${hashOf(20)}`,
      },
    });
    expect(steps[13]).toMatchObject({ hash: hashOf(21) });
  });

  it('continue from the cursor of any of them, at any process', async () => {
    await world.stage(0, 12, ['blocks', 'logs']);
    await world.publish('blocks', 0, 9);
    await world.publish('logs', 0, 4);
    await world.setHead(12, 11);
    const all = await read(await feed.begin({ kinds: ['blocks', 'logs'], from: 0 }));
    feed = world.openFeed();
    for (const [at, { cursor }] of all.steps.entries()) {
      const rest = await read(cursor);
      const expected = all.short.slice(at + 1);
      // Once read past the last block, what is final is said at once.
      expect(rest.short.filter((each) => !each.startsWith('final'))).toEqual(
        (expected.length === 0 ? all.short.slice(-1) : expected).filter((each) => !each.startsWith('final')),
      );
    }
  });

  it('are read once for all who wait at the same place, and want the same', async () => {
    await world.stage(0, 1, ['logs']);
    await world.setHead(1, -1);
    const options = { ...READ, woken: true };
    const [one, cursor] = [
      await feed.begin({ kinds: ['logs'], from: 0 }),
      await feed.begin({ kinds: ['logs'], from: 0 }),
    ];
    const first = await feed.read(one, options);
    expect(await feed.read(cursor, options)).toBe(first);
    expect((await feed.read(cursor, { ...options, limit: 1 })).steps).toEqual([first.steps[0]]);
  });

  it('begin within a file, with the first block that is wanted', async () => {
    await world.stage(0, 9, ['logs']);
    await world.publish('logs', 0, 9);
    expect((await read(await feed.begin({ kinds: ['logs'], from: 4 }))).short).toEqual([
      'bundle logs 0-9 from 4',
      'waiting 10 not-produced',
    ]);
  });

  it('are no more than were asked for, and none is lost between two answers', async () => {
    await world.stage(0, 9, ['logs']);
    await world.publish('logs', 0, 3);
    await world.setHead(9, 5);
    const seen: string[] = [];
    let cursor = await feed.begin({ kinds: ['logs'], from: 0 });
    for (let waits = false; !waits; ) {
      const page = await read(cursor, { limit: 1 });
      expect(page.steps).toHaveLength(1);
      seen.push(...page.short);
      cursor = page.cursor;
      waits = page.short[0]?.startsWith('waiting') === true;
    }
    expect(seen).toEqual([
      'bundle logs 0-3',
      'new 4 logs',
      'final 4',
      'new 5 logs',
      'final 5',
      'new 6 logs',
      'new 7 logs',
      'new 8 logs',
      'new 9 logs',
      'waiting 10 not-produced',
    ]);
  });

  it('hold at a block that is missing, with the reason, and go on when it is there', async () => {
    await world.main.backfills.add({ kinds: ['logs'], from: 0, to: null, priority: 1 });
    await world.stage(0, 3, ['logs']);
    await world.stage(5, 8, ['logs']);
    await world.setHead(8, 6);
    await quarantine(4);
    const held = await read(await feed.begin({ kinds: ['logs'], from: 2 }));
    expect(held.short).toEqual(['new 2 logs', 'new 3 logs', 'final 3', 'waiting 4 quarantined']);
    expect(held.steps.at(-1)).toMatchObject({
      detail: expect.stringContaining('PROOF_FAILED'),
      kinds: ['logs'],
    });
    const waiting = feed.changed(held, { withinMs: 20_000 });
    await world.main.quarantine.settle({ firstBlock: 4, lastBlock: 4 }, ['logs']);
    await world.stage(4, 4, ['logs']);
    expect(await waiting).toBe(true);
    let page = held;
    do page = await read(page.cursor);
    while (page.short.length === 1);
    expect(page.short[0]).toBe('new 4 logs');
    expect(page.short.at(-1)).toBe('waiting 9 not-produced');
  });

  it('leave out with skip=holes what nobody is about to fetch, and say so', async () => {
    await world.main.backfills.add({ kinds: ['logs'], from: 3, to: null, priority: 1 });
    await world.stage(3, 3, ['logs']);
    await world.stage(5, 5, ['logs']);
    await world.setHead(9, 6);
    await quarantine(4);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 0 }), { skipHoles: true });
    expect(page.short).toEqual([
      'skipped logs 0-2 not-requested',
      'new 3 logs',
      'skipped logs 4-4 quarantined',
      'new 5 logs',
      'final 5',
      'waiting 6 waiting',
    ]);
  });

  it('with final=only are final, and wait for finality', async () => {
    await world.stage(0, 9, ['logs']);
    await world.publish('logs', 0, 3);
    await world.setHead(9, 5);
    const only = { final: 'only' } as const;
    const page = await read(await feed.begin({ kinds: ['logs'], from: 0 }), only);
    expect(page.short).toEqual([
      'bundle logs 0-3',
      'new 4 logs',
      'new 5 logs',
      'final 5',
      'waiting 6 not-final',
    ]);
    await world.setHead(9, 9);
    await feed.changed(page, { withinMs: 20_000 });
    expect((await read(page.cursor, only)).short.at(-1)).toBe('waiting 10 not-produced');
  });

  it('end where the plan ends', async () => {
    await world.stage(0, 9, ['logs']);
    await world.publish('logs', 0, 3);
    await world.setHead(9, 9);
    const cursor = await feed.begin({ kinds: ['logs'], from: 0 });
    await expect(read(cursor, { maxBlock: 2 })).rejects.toMatchObject({ code: 'PLAN_LIMIT' });
    const page = await read(cursor, { maxBlock: 5 });
    expect(page).toMatchObject({
      short: ['bundle logs 0-3', 'new 4 logs', 'new 5 logs', 'final 5'],
      waits: false,
    });
    await expect(read(page.cursor, { maxBlock: 5 })).rejects.toMatchObject({ code: 'PLAN_LIMIT' });
  });

  it('wait beyond the head, on a network without anything too', async () => {
    expect((await read(await feed.begin({ kinds: ['logs'], from: 1_000 }))).short).toEqual([
      'waiting 1000 not-produced',
    ]);
  });
});

describe('a reorganisation', () => {
  const branch =
    (from: number, name = 'b') =>
    (block: number) =>
      hashOf(block, block < from ? 'a' : name);

  it('is undone, the newest block first, before the other branch', async () => {
    await world.stage(0, 9, ['logs']);
    await world.setHead(9, 3);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 2 }));
    await world.main.staging.abandon(8);
    await world.stage(8, 10, ['logs'], branch(8));
    await world.setHead(10, 3, hashOf(10, 'b'));
    const next = await read(page.cursor);
    expect(next.short).toEqual([
      'undo 9 to 8',
      'undo 8 to 7',
      'new 8 logs',
      'new 9 logs',
      'new 10 logs',
      'waiting 11 not-produced',
    ]);
    expect(next.steps[0]).toMatchObject({ hash: hashOf(9), to: { block: 8, hash: hashOf(8) } });
    expect(next.steps[2]).toMatchObject({ hash: hashOf(8, 'b'), parent: hashOf(7) });
    // And answers between are those of the whole.
    const seen: string[] = [];
    for (let { cursor } = page; seen.at(-1) !== 'new 10 logs'; ) {
      const one = await read(cursor, { limit: 1 });
      seen.push(...one.short);
      cursor = one.cursor;
    }
    expect(seen).toEqual(next.short.slice(0, -1));
  });

  it('is undone although the other branch is published by now, and longer', async () => {
    await world.stage(0, 99, ['logs']);
    await world.setHead(99, 30);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 0 }));
    await world.main.staging.abandon(36);
    await world.stage(36, 120, ['logs'], branch(36));
    await world.setHead(2_000, 1_990);
    await world.publish('logs', 0, 120);
    await world.main.staging.reclaim();
    const { short } = await read(page.cursor);
    expect(short.slice(0, 2)).toEqual(['undo 99 to 98', 'undo 98 to 97']);
    expect(short.slice(62)).toEqual([
      'undo 37 to 36',
      'undo 36 to 35',
      'final 35',
      'bundle logs 0-120 from 36',
      'waiting 121 not-requested',
    ]);
  });

  it('of all blocks of a feed goes back before its first', async () => {
    await world.stage(0, 9, ['logs']);
    await world.setHead(9, 3);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 8 }));
    await world.main.staging.abandon(6);
    await world.stage(6, 8, ['logs'], branch(6));
    await world.setHead(8, 3, hashOf(8, 'b'));
    const next = await read(page.cursor);
    expect(next.short).toEqual(['undo 9 to 8', 'undo 8 to 7', 'new 8 logs', 'waiting 9 not-produced']);
    expect(next.steps[1]).toMatchObject({ to: { block: 7, hash: null } });
  });

  it('back to a branch that was left undoes nothing of it', async () => {
    await world.stage(0, 9, ['logs']);
    await world.setHead(9, 3);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 5 }));
    await world.main.staging.abandon(7);
    await world.stage(7, 9, ['logs'], branch(7));
    await world.main.staging.abandon(7);
    await world.stage(7, 9, ['logs']);
    expect((await read(page.cursor)).short).toEqual(['waiting 10 not-produced']);
  });

  it('is undone in one step down to the last final block if the database does not know the branch', async () => {
    await world.stage(0, 8, ['logs']);
    await world.setHead(8, 3);
    const { encode } = createCursors({ seal: await world.database.operators.seal(), network: NETWORK });
    const tip = { block: 9, hash: hashOf(9, 'lost') };
    const base = { block: 3, hash: hashOf(3) };
    const [next, seen] = [new Map([['logs', 10] as const]), new Map([['logs', -1] as const])];
    const cursor = encode({ kinds: ['logs'], start: 0, next, seen, base, tip, madeAt: 1_700_000_000 });
    const page = await read(cursor);
    expect(page.short.slice(0, 2)).toEqual(['undo 9 to 3', 'new 4 logs']);
    expect(page.steps[0]).toMatchObject({ hash: tip.hash, to: base });
  });

  it('below a final block is refused by name: an operator accepted another chain', async () => {
    await world.stage(0, 9, ['logs']);
    await world.setHead(9, 7);
    const page = await read(await feed.begin({ kinds: ['logs'], from: 0 }));
    await world.main.staging.abandon(6);
    await world.stage(6, 9, ['logs'], branch(6));
    await world.setHead(9, 8, hashOf(9, 'b'));
    await expect(read(page.cursor)).rejects.toMatchObject({
      code: 'CURSOR_REMOVED',
      data: { block: 7, hash: hashOf(7) },
    });
  });
});

it('reports files that are published again after they were delivered, and no others', async () => {
  await world.stage(0, 29, ['logs']);
  await world.publish('logs', 0, 9);
  await world.publish('logs', 10, 19);
  await world.setHead(29, 29);
  await world.repair('logs', 0);
  const page = await read(await feed.begin({ kinds: ['logs'], from: 0 }), { limit: 1 });
  expect(page.short).toEqual(['bundle logs 0-9']);
  await world.repair('logs', 10);
  await world.repair('logs', 0);
  const [repaired, delivered] = (await read(page.cursor)).steps;
  expect(repaired).toMatchObject({
    step: 'repaired',
    range: '0-9',
    download_link: 'http://files/logs/0-9.json.gz',
    supersedes: (page.steps[0] as { sha256: string }).sha256,
  });
  expect(delivered).toMatchObject({ step: 'bundle', range: '10-19' });
});
