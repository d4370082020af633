import { type BlockRange, KINDS, TABLES } from '@packhouse/chain';
import { lakeReport } from '@packhouse/report';
import { EVERYTHING, HEAL_MS, NETWORK } from './settings.js';
import type { World } from './world.js';

/** How the world came to be well again. */
export interface Healing {
  ms: number;
  /** What is still not well after all the time there was; null: everything is. */
  stuck: string | null;
  /** How often quarantined blocks were asked to be tried at once. */
  retried: number;
}

const LOOK_EVERY_MS = 500;
/** An operator who knows that the nodes are well again runs `packhouse quarantine retry`; its back-off is minutes. */
const RETRY_EVERY_MS = 4_000;

/**
 * Ends all faults, and waits until the system is complete by itself:
 *
 *   all processes run ─▶ everything up to the head is staged or published ─▶ all of it is made final, and the follow
 *   range gives way to a closed one, so that the last bundle need not wait for more ─▶ everything is published
 *   ─▶ staging is reclaimed ─▶ the tables of the lake have all of it
 */
export async function heal(world: World, pending: ReadonlySet<Promise<unknown>>): Promise<Healing> {
  const { chain, nodes, triggers, fleet, database, options } = world;
  const begun = Date.now();
  let retried = 0;
  triggers.disarm();
  chain.finalize(3);
  nodes.calm();
  await Promise.all(pending);
  await fleet.ready();

  let lastRetry = Number.NEGATIVE_INFINITY;
  const until = async (what: string, missing: () => Promise<string | null>): Promise<string | null> => {
    options.say?.(`healing: ${what}`);
    for (;;) {
      options.signal?.throwIfAborted();
      let left: string | null;
      try {
        if (Date.now() - lastRetry > RETRY_EVERY_MS) {
          lastRetry = Date.now();
          retried += await database.network(NETWORK).quarantine.retry(EVERYTHING);
        }
        left = await missing();
      } catch (error) {
        left = (error as Error).message;
      }
      if (left === null) return null;
      if (Date.now() - begun > HEAL_MS) return `${what}: ${left}`;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  };
  const done = (stuck: string | null): Healing => ({ ms: Date.now() - begun, stuck, retried });

  for (const range of await database.network(NETWORK).backfills.list())
    if (range.to === null && range.state !== 'active')
      await database.backfills.change(range.id, { state: 'active' });
  let stuck = await until('the head is staged', () => notStaged(world));
  if (stuck !== null) return done(stuck);
  chain.finalize(0);
  nodes.follow();
  await seal(world);
  stuck = await until('everything is published', () => notPublished(world));
  if (stuck !== null) return done(stuck);
  stuck = await until('staging is reclaimed', () => notReclaimed(world));
  if (stuck !== null) return done(stuck);
  return done(await until('tables have everything', () => notInTables(world)));
}

async function notStaged({ database, chain }: World): Promise<string | null> {
  const head = await database.network(NETWORK).head.get();
  if (head?.number !== chain.head() || head.finalized !== chain.finalized())
    return `the head is said to be ${head?.number}, final ${head?.finalized}; it is ${chain.head()}, final ${chain.finalized()}`;
  for (const kind of KINDS) {
    const { staged, published } = await database.network(NETWORK).coverage(kind);
    const hole = firstHole([...staged, ...published], chain.first, chain.head());
    if (hole !== null) return `${kind} of block ${hole} are neither staged nor published`;
  }
  for (const { number, hash } of await database.network(NETWORK).staging.blocks(EVERYTHING))
    if (chain.block(number)?.block.hash !== hash) return `staged block ${number} is of an abandoned branch`;
  return null;
}

async function seal({ database, chain }: World): Promise<void> {
  await database.network(NETWORK).backfills.add({
    kinds: [...KINDS],
    from: chain.first,
    to: chain.finalized(),
    priority: 1,
  });
  for (const range of await database.network(NETWORK).backfills.list())
    if (range.to === null || range.to > chain.finalized())
      await database.backfills.change(range.id, { state: 'cancelled' });
}

async function notPublished({ database, chain }: World): Promise<string | null> {
  for (const kind of KINDS) {
    const { published } = await database.network(NETWORK).coverage(kind);
    const hole = firstHole(published, chain.first, chain.finalized());
    if (hole !== null) return `${kind} of block ${hole} are not published`;
  }
  return null;
}

async function notReclaimed({ database }: World): Promise<string | null> {
  const [left] = await database.network(NETWORK).staging.blocks(EVERYTHING);
  return left === undefined ? null : `block ${left.number} is published and still staged`;
}

async function notInTables({ database }: World): Promise<string | null> {
  const reports = await lakeReport(database.network(NETWORK));
  if (reports.length < TABLES.length) return `there are ${reports.length} tables`;
  const behind = reports.find(({ bundlesBehind }) => bundlesBehind > 0);
  return behind === undefined ? null : `${behind.table.kind} lacks ${behind.bundlesBehind} bundles`;
}

function firstHole(ranges: readonly BlockRange[], first: number, last: number): number | null {
  let next = first;
  for (const { firstBlock, lastBlock } of [...ranges].sort((a, b) => a.firstBlock - b.firstBlock)) {
    if (firstBlock > next) break;
    next = Math.max(next, lastBlock + 1);
  }
  return next > last ? null : next;
}
