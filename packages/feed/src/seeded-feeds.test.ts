import type { Kind } from '@packhouse/chain';
import { seededRandom } from '@packhouse/local';
import type { FeedStep } from '@packhouse/manifest';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type FeedWorld, hashOf, makeFeedWorld, READ } from './testing/feed-world.js';

/* A scripted chain with reorganisations, packing and repairs, and clients that die at any moment: SPEC.md, invariant 13. */

const SEEDS = Number(process.env.FEED_SEEDS ?? (process.env.SEEDS === 'many' ? 200 : 4));
/** Below the border of a segment, so that staging is reclaimed on the way. */
const FIRST = 1_010;
const KINDS: readonly Kind[] = ['blocks', 'logs'];
const MOVES = 60;

let world: FeedWorld;
beforeAll(async () => {
  world = await makeFeedWorld(inject('postgresUrl'));
});
afterAll(() => world.close());

type Random = ReturnType<typeof seededRandom>;

/** The chain as it really is, and what of it is staged and published. */
function createChain(at: FeedWorld, random: Random) {
  const { below } = random;
  /** Hashes by block, from FIRST on. */
  let hashes: string[] = [];
  let finalized = FIRST - 1;
  let branch = 0;
  /** Blocks of a kind that are not staged yet. */
  const late = new Map<Kind, Set<number>>(KINDS.map((kind) => [kind, new Set()]));
  const published = new Map<Kind, number>(KINDS.map((kind) => [kind, FIRST - 1]));
  const head = (): number => FIRST + hashes.length - 1;
  const hashAt = (block: number): string =>
    block < FIRST ? hashOf(block) : (hashes[block - FIRST] as string);
  const note = () => at.setHead(head(), finalized, hashAt(head()));

  const grow = async (blocks: number): Promise<void> => {
    for (let n = 0; n < blocks; n += 1) {
      const block = head() + 1;
      hashes.push(hashOf(block, `${branch}`));
      // A block that fails for one kind is staged for the other.
      const missing = random.unit() < 0.15 ? random.pick(KINDS) : undefined;
      if (missing !== undefined) late.get(missing)?.add(block);
      await at.stage(
        block,
        block,
        KINDS.filter((kind) => kind !== missing),
        hashAt,
      );
    }
    await note();
  };
  const heal = async (): Promise<void> => {
    for (const kind of KINDS) {
      for (const block of late.get(kind) ?? []) await at.stage(block, block, [kind], hashAt);
      late.get(kind)?.clear();
    }
  };
  const moves = {
    grow: () => grow(1 + below(3)),
    reorganise: async (): Promise<void> => {
      const depth = Math.min(1 + below(random.unit() < 0.1 ? 64 : 6), head() - finalized);
      if (depth === 0) return;
      const from = head() - depth + 1;
      branch += 1;
      hashes = hashes.slice(0, from - FIRST);
      for (const blocks of late.values()) for (const block of blocks) if (block >= from) blocks.delete(block);
      await at.main.staging.abandon(from);
      // The follower may die here: the head is noted, and other blocks staged, later.
      if (random.unit() < 0.7) await grow(depth + below(2));
    },
    finalize: async (): Promise<void> => {
      finalized = Math.max(finalized, Math.min(head(), finalized + below(6)));
      await note();
    },
    heal,
    publish: async (): Promise<void> => {
      const kind = random.pick(KINDS);
      const first = (published.get(kind) as number) + 1;
      const [gap = Number.POSITIVE_INFINITY] = [...(late.get(kind) ?? [])]
        .filter((block) => block >= first)
        .sort();
      const last = Math.min(finalized, gap - 1, first + below(12));
      if (last < first) return;
      await at.publish(kind, first, last);
      published.set(kind, last);
    },
    reclaim: async () => void (await at.main.staging.reclaim()),
    repair: async (): Promise<void> => {
      const kind = random.pick(KINDS);
      const last = published.get(kind) as number;
      if (last >= FIRST) await at.repair(kind, FIRST + below(last - FIRST + 1));
    },
  };
  return { moves, head, hashAt, heal, finalized: () => finalized, grow };
}

type Chain = ReturnType<typeof createChain>;

/** A client with a table by kind, which it commits together with its cursor. */
function createClient(at: FeedWorld, chain: Chain, random: Random, final: 'all' | 'only', from: number) {
  let gateway = at.openFeed();
  let cursor: string | undefined;
  let last: FeedStep | undefined;
  let finalTo = from - 1;
  let said: string[] = [];
  const tables = new Map<Kind, Map<number, string>>(KINDS.map((kind) => [kind, new Map()]));
  const put = (kind: Kind, block: number, hash: string): void => {
    const table = tables.get(kind) as Map<number, string>;
    if (table.has(block)) throw new Error(`block ${block} of ${kind} comes twice`);
    table.set(block, hash);
  };
  const check = (to: number): void => {
    for (const kind of KINDS) {
      for (let block = from; block <= to; block += 1)
        expect([kind, block, tables.get(kind)?.get(block)]).toEqual([kind, block, chain.hashAt(block)]);
    }
  };
  const apply = (step: FeedStep): void => {
    if (step.step === 'bundle') {
      const [first = 0] = step.range.split('-').map(Number);
      const hashes = at.files.get(step.sha256) as string[];
      expect(step.from).toBeLessThan(first + hashes.length);
      hashes.forEach((hash, n) => {
        if (first + n >= step.from) put(step.kind, first + n, hash);
      });
    } else if (step.step === 'new') {
      const before = tables.get(KINDS.find((kind) => tables.get(kind)?.has(step.block - 1)) ?? 'logs');
      expect(before?.get(step.block - 1) ?? step.parent).toBe(step.parent);
      for (const kind of Object.keys(step.files) as Kind[]) put(kind, step.block, step.hash);
    } else if (step.step === 'undo') {
      expect(final).toBe('all');
      expect(step.to.block).toBeGreaterThanOrEqual(finalTo);
      for (const table of tables.values())
        for (const block of table.keys()) if (block > step.to.block) table.delete(block);
      const kept = [...tables.values()].map((table) => table.get(step.to.block)).find(Boolean);
      if (kept !== undefined) expect(step.to.hash).toBe(kept);
    } else if (step.step === 'final') {
      expect(step.block).toBeGreaterThan(finalTo);
      expect(step.hash).toBe(chain.hashAt(step.block));
      finalTo = step.block;
      check(step.block);
    } else if (step.step === 'skipped') throw new Error('nothing was to be skipped');
    last = step;
    cursor = step.cursor;
    said = [...said, step.step].slice(-20);
  };
  const read = async (limit: number): Promise<FeedStep[]> => {
    cursor ??= await gateway.begin({ kinds: KINDS, from });
    return (await gateway.read(cursor, { ...READ, final, limit })).steps;
  };
  return {
    /** Reads a few steps, and dies behind any of them: what it did not commit comes again. */
    async advance(): Promise<void> {
      const steps = await read(random.between(1, 12));
      const committed = random.unit() < 0.3 ? random.below(steps.length) : steps.length;
      for (const step of steps.slice(0, committed)) apply(step);
    },
    async changeGateway(): Promise<void> {
      await gateway.end();
      gateway = at.openFeed();
    },
    /** Reads until nothing is left, and compares with the chain. */
    async finish(to: number): Promise<void> {
      for (let tries = 0; tries < 400; tries += 1) {
        at.later();
        for (const step of await read(100)) apply(step);
        if (last?.step === 'waiting' && last.block === to + 1) break;
      }
      expect([last?.step, (last as { block?: number }).block, said]).toEqual(['waiting', to + 1, said]);
      check(to);
      for (const table of tables.values()) expect(Math.max(...table.keys())).toBe(to);
      await gateway.end();
    },
  };
}

it.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
  'seed %i: at every final and at the end the tables of the clients are the chain, nothing twice, nothing missing',
  async (seed) => {
    const random = seededRandom(seed);
    const at = await makeFeedWorld(inject('postgresUrl'), `seed-${seed}`, world);
    const chain = createChain(at, random);
    await chain.grow(5);
    const clients = [
      createClient(at, chain, random, 'all', FIRST),
      createClient(at, chain, random, 'all', FIRST + 7),
      createClient(at, chain, random, 'only', FIRST),
    ];
    const { grow, reorganise, finalize, heal, publish, reclaim, repair } = chain.moves;
    const moves = [grow, grow, grow, reorganise, finalize, finalize, heal, publish, publish, reclaim, repair];
    for (let n = 0; n < MOVES; n += 1) {
      await random.pick(moves)();
      const client = random.pick(clients);
      if (random.unit() < 0.6) await client.advance();
      if (random.unit() < 0.05) await client.changeGateway();
    }
    await chain.grow(3);
    await chain.heal();
    const [first, second, only] = clients;
    await first?.finish(chain.head());
    await second?.finish(chain.head());
    await only?.finish(chain.finalized());
    await at.close();
  },
);
