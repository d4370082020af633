import { createHash } from 'node:crypto';
import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { HonestChain } from '../chain/honest-chain.js';

/** A bundle as it was when it was first seen. */
export interface Sighting {
  row: BundleRow;
  /** Hex SHA-256 of the object at that moment; null where there was none. */
  objectSha256: string | null;
  /** The newest final block of the honest chain at that moment. */
  finalized: number;
}

/** Final blocks of the chain that were staged at one look and not at the next. */
export interface Vanished {
  kind: Kind;
  blocks: number;
  /** Why one of them is in no readable object with the right sha256; null: all was well. */
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
const EVERYTHING: BlockRange = { start: 0, end: 2 ** 40 };
const MOST_ROWS = 100_000;

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
  let stopped = false;

  const sha256Of = (key: string): string | null => {
    const body = readObject(key);
    return body === null ? null : createHash('sha256').update(body).digest('hex');
  };
  const lookAt = async (kind: Kind): Promise<void> => {
    // Staging first: what leaves it between the two questions is published by then.
    const { staged: ranges } = await database.coverage(network, kind);
    const rows = await database.bundles.list(network, kind, 0, MOST_ROWS);
    const finalized = chain.finalized();
    for (const row of rows) {
      const name = `${row.objectKey} ${row.sha256}`;
      if (!sightings.has(name))
        sightings.set(name, { row, objectSha256: sha256Of(row.objectKey), finalized });
    }
    const now = numbersOf(ranges);
    const before = staged.get(kind);
    staged.set(kind, now);
    // A reorganisation drops what the chain has left, and with it what stands above.
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
    const row = rows.find(({ start, end }) => start <= number && number <= end);
    if (row === undefined) return `block ${number} left staging and no bundle holds it`;
    const sha256 = sha256Of(row.objectKey);
    if (sha256 === row.sha256) return null;
    return `block ${number} left staging while ${row.objectKey} was ${sha256 === null ? 'absent' : `of sha256 ${sha256}`}, expected ${row.sha256}`;
  };
  const look = async (): Promise<void> => {
    const finalized = chain.finalized();
    for (const kind of KINDS) await lookAt(kind);
    finalizedBefore = finalized;
    const blocks = await database.staging.blocks(network, EVERYTHING);
    hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
    looks += 1;
  };
  const watching = (async () => {
    while (!stopped) {
      // Postgres is being restarted now and then: the next look sees what this one could not.
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return {
    sightings: () => [...sightings.values()],
    vanished: () => vanished,
    looks: () => looks,
    look,
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

function numbersOf(ranges: readonly BlockRange[]): Set<number> {
  const numbers = new Set<number>();
  for (const { start, end } of ranges) for (let number = start; number <= end; number++) numbers.add(number);
  return numbers;
}
