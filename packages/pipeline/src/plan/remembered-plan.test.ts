import { KINDS } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import type { Queues } from '@packhouse/queue';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { plan } from './plan.js';

const BLOCKS = 160;
/** Between two chunks of what is published; blocks are on both sides. */
const BORDER = 16_384;
const FIRST = BORDER - BLOCKS / 2;

let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, BLOCKS) }], { maxBlocks: 8 });
  await world.noteHead();
  await world.want(FIRST, FIRST + BLOCKS - 1);
});
afterAll(() => world.close());

/** What a plan enqueues where the queue is empty. */
async function planned(database: Database, uncut?: Set<string>): Promise<string[]> {
  const jobs: string[] = [];
  const queues = {
    pendingIds: async () => new Set<string>(),
    remove: async () => undefined,
    add: async (queue: string, added: readonly { id: string }[]) => {
      jobs.push(...added.map(({ id }) => `${queue} ${id}`));
    },
  } as unknown as Queues;
  await plan({ ...world, database, queues, maxPending: 1_000, ...(uncut === undefined ? {} : { uncut }) });
  return jobs.sort();
}

test('a leader that remembers plans what a new one does, whatever is done to the database', async () => {
  // Numerical Recipes' generator, so that a failure repeats.
  let seed = 7;
  const upTo = (most: number): number => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((seed / 2 ** 32) * most);
  };
  const { signal } = world.context;
  const network = world.database.network('main');
  const part = (): [number, number] => {
    const start = FIRST + upTo(BLOCKS - 12);
    // A job stays within a segment.
    return [start, Math.min(start + upTo(12), start < BORDER ? BORDER - 1 : Number.POSITIVE_INFINITY)];
  };
  const states = ['active', 'paused', 'cancelled'] as const;
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      const [firstBlock, lastBlock] = part();
      await ingest(world.parts, { firstBlock, lastBlock, kinds: KINDS }, signal);
    },
    () => world.packAll(),
    async () => {
      const [from, to] = part();
      await network.backfills.add({
        kinds: KINDS.slice(upTo(KINDS.length)),
        from,
        to,
        priority: 1 + upTo(3),
      });
    },
    async () => {
      const ranges = await world.database.backfills.list();
      const state = states[upTo(3)] ?? 'active';
      await world.database.backfills.change(ranges[upTo(ranges.length)]?.id ?? 0, { state });
    },
    async () => {
      const why = { cause: 'PROOF_FAILED', message: '', upstream: null, payloadDigest: null };
      await network.quarantine.put({ ...why, firstBlock: part()[0], kinds: KINDS.slice(upTo(KINDS.length)) });
      // None becomes due between two plans.
      await runSql(world.databaseUrl, `UPDATE packhouse.quarantine SET next_try = now() + interval '1 day'`);
    },
    // By hand, and of a part of the kinds.
    () =>
      runSql(
        world.databaseUrl,
        `DELETE FROM packhouse.bundle WHERE kind < ${upTo(5)} AND first_block >= ${part()[0]}`,
      ),
    async () => {
      await network.staging.abandon(FIRST + BLOCKS - 1 - upTo(40)).catch((error: { code?: string }) => {
        expect(error.code).toBe('STAGE_CONFLICT');
      });
    },
  ];
  const uncut = new Set<string>();
  let different = 0;
  let last = '';
  for (let done = 0; done < 24; done++) {
    await steps[done % 2 === 0 ? 0 : upTo(steps.length)]?.();
    const remembered = await planned(world.database, uncut);
    const fresh = createDatabase({
      connectionString: world.databaseUrl,
      context: world.context,
      applicationName: 'test',
    });
    try {
      expect(remembered).toEqual(await planned(fresh));
    } finally {
      await fresh.close();
    }
    if (last !== remembered.join()) different++;
    last = remembered.join();
  }
  // Of steps that do nothing the test would say nothing.
  expect(different).toBeGreaterThan(8);
});
