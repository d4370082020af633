import { type BlockRange, KINDS } from '@packhouse/chain';
import type { Hole } from '@packhouse/database';
import { FINALITY_ALARM, packJobId, parsePackJobId, plan } from '@packhouse/pipeline';
import { emptyQueue, makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { coverage, holeNeeds } from './coverage.js';
import { coverageSummary } from './network-report.js';

const FIRST = 1_000;
const OPTIONS = { txsPerBlock: 3, logsPerTx: 2, tracesPerTx: 2, seed: 5, startNumber: FIRST };
const WAIT = { timeout: 120_000, interval: 50 };
let world: World | undefined;
let release: () => void = () => undefined;
afterEach(async () => {
  // Jobs that a failed test left running would keep the queues open.
  release();
  await world?.close();
  world = undefined;
});

const shown = ({ firstBlock, lastBlock, reason, staged }: Hole) =>
  `${firstBlock}-${lastBlock} ${reason}${staged ? ' (here)' : ''}`;
const written = ({ firstBlock, lastBlock }: BlockRange) => `${firstBlock}-${lastBlock}`;

/** Published ranges and holes of one kind, whole. */
async function look(kind: 'logs' | 'receipts', from: number, to: number) {
  if (world === undefined) throw new Error('no world was made');
  const page = await coverage(
    { database: world.database, queue: world.queues },
    {
      network: 'main',
      kinds: [kind],
      from,
      to,
      limit: 100,
    },
  );
  expect(page).toMatchObject({ next: null, range: { firstBlock: from, lastBlock: to }, queueSeen: true });
  const [found] = page.kinds;
  return { page, published: found?.published.map(written), holes: found?.holes.map(shown) };
}

describe('coverage', () => {
  test('through a whole run: each hole with its reason, until the last one is filled (invariant 4)', {
    timeout: 180_000,
  }, async () => {
    const blocks = [...generateChain({ ...OPTIONS, length: 60 })];
    const lie = {
      when: { method: 'eth_getBlockReceipts', block: FIRST + 20 },
      do: 'tamper',
      path: [0, 'gasUsed'],
      value: '0x1',
    } as const;
    world = await makeWorld(inject('postgresUrl'), [{ blocks, finalized: { depth: 10 }, faults: [lie] }], {
      maxBlocks: 8,
    });
    const { database, queues, network, context } = world;
    const add = (from: number, to: number | null) =>
      database.network('main').backfills.add({ kinds: [...KINDS], from, to, priority: 5 });
    await database.backfills.change((await add(800, 819)).id, { state: 'cancelled' });
    await database.backfills.change((await add(820, 839)).id, { state: 'paused' });
    await world.want(FIRST, null);
    await world.follow();
    await world.settle();

    const tip = [
      `${FIRST + 50}-${FIRST + 59} not-finalized (here)`,
      `${FIRST + 60}-${FIRST + 69} not-produced`,
    ];
    const first = await look('receipts', 790, FIRST + 69);
    // The last bundle behind the hole is not full: its blocks wait for more.
    const packedTo = Number(first.published?.[1]?.split('-')[1]);
    expect(first.published).toEqual([`${FIRST}-${FIRST + 19}`, `${FIRST + 21}-${packedTo}`]);
    expect(first.holes).toEqual([
      '790-799 not-requested',
      '800-819 cancelled',
      '820-839 paused',
      `840-${FIRST - 1} not-requested`,
      `${FIRST + 20}-${FIRST + 20} quarantined`,
      `${packedTo + 1}-${FIRST + 49} staged (here)`,
      ...tip,
    ]);
    expect(first.page.kinds[0]?.holes[4]?.quarantine).toMatchObject({ cause: 'PROOF_FAILED', attempts: 1 });
    // The paused range is wanted, so nothing is complete from its first block on.
    expect(first.page.completeThrough).toBeNull();

    // Blocks that are planned and not there yet: what is worked at, what waits for a worker, what waits for room.
    await add(900, 959);
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ingesting = await queues.work('ingest', () => held, { concurrency: 1 });
    const packing = await queues.work('pack', () => held, { concurrency: 20 });
    await queues.add('pack', [
      {
        id: packJobId('main', 'receipts', packedTo + 1),
        priority: 1,
        payload: { network: 'main', kind: 'receipts', firstBlock: packedTo + 1 },
      },
    ]);
    await plan({ context, database, queues, network, maxPending: 2 });
    await vi.waitFor(async () => {
      const { holes } = await look('receipts', 840, FIRST + 69);
      expect(holes?.map((hole) => hole.split(' ')[1])).toEqual([
        'not-requested',
        'fetching',
        'queued',
        'not-requested',
        'quarantined',
        'packing',
        'not-finalized',
        'not-produced',
      ]);
    }, WAIT);
    await add(960, 999);
    expect((await look('receipts', 960, 999)).holes).toEqual(['960-999 waiting']);
    await database.network('main').pressure.note({ stagedBytes: 2, limitBytes: 1 });
    expect((await look('receipts', 960, 999)).holes).toEqual(['960-999 throttled']);
    await database.network('main').alarms.raise({ name: FINALITY_ALARM, message: 'x', data: {} });
    expect((await look('receipts', 960, 999)).holes).toEqual(['960-999 halted']);

    const summary = await coverageSummary({ database, queue: queues }, 'main');
    expect(summary).toMatchObject({ firstRequested: 820, range: { firstBlock: 820, lastBlock: FIRST + 59 } });
    for (const { published, missing } of summary.kinds) {
      const all = Object.values(missing).reduce((sum, blocks) => sum + blocks, published);
      expect(all).toBe(FIRST + 60 - 820);
    }
    expect(summary.oldestQuarantine).toMatchObject({
      firstBlock: FIRST + 20,
      lastBlock: FIRST + 20,
      attempts: 1,
    });
    release();
    await Promise.all([ingesting.close(), packing.close()]);
    await emptyQueue(queues, 'ingest');
  });

  test('says up to where all kinds are complete, also where one of them is behind', async () => {
    const blocks = [...generateChain({ ...OPTIONS, length: 24 })];
    world = await makeWorld(inject('postgresUrl'), [{ blocks }], { maxBlocks: 8 });
    await world.want(FIRST, FIRST + 23);
    await world.noteHead();
    await world.settle();
    const parts = { database: world.database };
    const page = await coverage(parts, { network: 'main', limit: 5 });
    expect(page).toMatchObject({ completeThrough: FIRST + 23, from: 0, to: FIRST + 23, queueSeen: false });
    expect(page.kinds.map(({ kind }) => kind)).toEqual([...KINDS]);
    for (const { published, holes, counts } of page.kinds) {
      expect(published.map(written)).toEqual([`${FIRST}-${FIRST + 23}`]);
      expect(holes.map(shown)).toEqual([`0-${FIRST - 1} not-requested`]);
      expect(counts).toEqual({ published: 24, missing: { 'not-requested': FIRST } });
    }
    await world.database.network('main').backfills.add({ kinds: ['traces'], from: 0, to: null, priority: 1 });
    expect((await coverage(parts, { network: 'main', limit: 5 })).completeThrough).toBeNull();
  });

  test('of a range that cannot be is refused', async () => {
    world = await makeWorld(inject('postgresUrl'), [
      { blocks: [...generateChain({ ...OPTIONS, length: 1 })] },
    ]);
    const parts = { database: world.database };
    for (const request of [
      { from: 10, to: 9 },
      { from: 10, start: 9 },
      { to: 10, start: 11 },
    ]) {
      await expect(coverage(parts, { network: 'main', limit: 1, ...request })).rejects.toMatchObject({
        code: 'RANGE_INVALID',
      });
    }
  });

  test('names of pack jobs tell the kind, and only of their own network', () => {
    expect(parsePackJobId('main', packJobId('main', 'logs', 7))).toBe('logs');
    expect(parsePackJobId('main', packJobId('other', 'logs', 7))).toBeNull();
    for (const id of ['main', 'main.logs', 'main.uncles.7', 'main.logs.7.8', '']) {
      expect(parsePackJobId('main', id)).toBeNull();
    }
  });

  test('what a quarantined hole needs names cause and next try', () => {
    const nextTry = new Date('2026-01-02T03:04:05Z');
    expect(
      holeNeeds({
        reason: 'quarantined',
        quarantine: { cause: 'PROOF_FAILED', attempts: 3, firstSeen: nextTry, nextTry },
      }),
    ).toBe('it failed 3 times with PROOF_FAILED, and the next try is due at 2026-01-02T03:04:05.000Z');
  });
});
