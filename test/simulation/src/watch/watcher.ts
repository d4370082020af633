import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { HonestChain } from '../chain/honest-chain.js';

/** A bundle as it was when it was first seen. */
export interface Sighting {
  row: BundleRow;
  /** Hex SHA-256 of the object at that moment; null if there was none. */
  objectSha256: string | null;
  /** The newest final block of the honest chain at that moment. */
  finalized: number;
}

/** Blocks of the chain, final for the system, that were staged at one look and not at the next. */
export interface Vanished {
  kind: Kind;
  blocks: number;
  /** Why one of them is in no readable object with the right sha256; null: all of them are. */
  problem: string | null;
}

/** Looks at Postgres and the store all the time. */
export interface Watcher {
  sightings(): readonly Sighting[];
  vanished(): readonly Vanished[];
  looks(): number;
  /** One more look, now; throws what Postgres throws. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 250;
const EVERYTHING: BlockRange = { firstBlock: 0, lastBlock: 2 ** 40 };
const MAX_ROWS = 100_000;

/** Starts to watch. `database` goes past all faults. */
export function startWatcher(options: {
  database: Database;
  network: string;
  chain: HonestChain;
  readObject: (objectKey: string) => Buffer | null;
}): Watcher {
  const { database, network, chain, readObject } = options;
  const sightings = new Map<string, Sighting>();
  const vanished: Vanished[] = [];
  const staged = new Map<Kind, Set<number>>();
  let hashes = new Map<number, string>();
  let finalizedBefore = -1;
  let looks = 0;
  const stopped = new AbortController();

  const getSha256 = (key: string): string | null => {
    const body = readObject(key);
    return body === null ? null : createHash('sha256').update(body).digest('hex');
  };
  const lookAt = async (kind: Kind): Promise<void> => {
    // Staging first: what leaves it between the two questions is published by then.
    const { staged: ranges } = await database.network(network).coverage(kind);
    const rows = await database.network(network).bundles.list(kind, 0, MAX_ROWS);
    const finalized = chain.finalized();
    for (const row of rows) {
      const name = `${row.objectKey} ${row.sha256}`;
      if (!sightings.has(name))
        sightings.set(name, { row, objectSha256: getSha256(row.objectKey), finalized });
    }
    const now = toNumbers(ranges);
    const before = staged.get(kind);
    staged.set(kind, now);
    const gone = [...(before ?? [])].filter(
      (number) =>
        !now.has(number) &&
        number <= finalizedBefore &&
        hashes.get(number) === chain.block(number)?.block.hash,
    );
    if (gone.length === 0) return;
    const problems = gone.map((number) => whyLost(number, rows));
    vanished.push({ kind, blocks: gone.length, problem: problems.find((each) => each !== null) ?? null });
  };
  const whyLost = (number: number, rows: readonly BundleRow[]): string | null => {
    const row = rows.find(({ firstBlock, lastBlock }) => firstBlock <= number && number <= lastBlock);
    if (row === undefined) return `block ${number} left staging and no bundle holds it`;
    const sha256 = getSha256(row.objectKey);
    if (sha256 === row.sha256) return null;
    return `block ${number} left staging while ${row.objectKey} was ${sha256 === null ? 'absent' : `of sha256 ${sha256}`}, expected ${row.sha256}`;
  };
  const look = async (): Promise<void> => {
    const finalized = await finalForAll();
    for (const kind of KINDS) await lookAt(kind);
    finalizedBefore = finalized;
    const blocks = await database.network(network).staging.blocks(EVERYTHING);
    hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
    looks += 1;
  };
  /**
   * The newest block that is final for the chain and for the system. What the system has noted as final leaves staging
   * by reclaim only. Above that a reorganisation drops the lowest block that the chain has left and everything above
   * it, also blocks that are on the chain by now: they are fetched again, nothing is lost. The chain alone does not
   * tell which blocks these are, because it may be ahead: a system that is slow still has an abandoned block 1045 to
   * drop when the chain has made 1048 final. This has to be asked before staging: the follower notes finality after it
   * has dropped, so that what is staged below noted finality stays.
   */
  const finalForAll = async (): Promise<number> =>
    Math.min(chain.finalized(), (await database.network(network).head.get())?.finalized ?? -1);
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      // Postgres is being restarted now and then: the next look sees what this one could not.
      await look().catch(() => undefined);
      await sleep(EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    sightings: () => [...sightings.values()],
    vanished: () => vanished,
    looks: () => looks,
    look,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}

function toNumbers(ranges: readonly BlockRange[]): Set<number> {
  const numbers = new Set<number>();
  for (const { firstBlock, lastBlock } of ranges)
    for (let number = firstBlock; number <= lastBlock; number++) numbers.add(number);
  return numbers;
}
