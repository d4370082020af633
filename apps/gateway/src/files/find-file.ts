import { createRangeCheck, sliceOfMember } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import type { BodyCache } from '../cache/body-cache.js';
import type { Pacer } from '../http/paced-pieces.js';
import { fileDamaged, Problem } from '../http/problem.js';
import { createBoundedStore } from './bounded-store.js';
import { createDamagedFiles, type PublishedFacts } from './damaged-files.js';
import type { FragmentTable, ServedFile } from './served-file.js';
import { blockFile, publishedFile } from './served-file.js';

/** Most rows of published bundles kept, without their fragment tables: about 500 bytes each. */
const MAX_FACTS = 20_000;

/** Most fragments in the tables that are kept for ranges of streamed files: about 150 bytes each. */
const MAX_FRAGMENTS = 100_000;

/** How often superseded bundles are looked for, in milliseconds; until then a download may return the old bundle. */
const LOOK_MS = 500;

/** Look-ups of a block; a reorganisation during each of them is more than any chain has. */
const LOOKS = 4;

export interface FileFinder {
  /** Throws the problems `file-unknown`, `reorganised` and `file-damaged`, and what the database and the store throw. */
  find(network: string, kind: Kind, range: BlockRange): Promise<ServedFile>;
  /** Stops looking for superseded bundles. */
  close(): void;
}

/**
 * Creates the finder. A name resolves to a published bundle of exactly this range; `n-n` also to a staged block and to
 * a block inside a published bundle, so that every link keeps resolving after packing.
 */
export function createFileFinder(parts: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  database: Database;
  objectStore: ObjectStore;
  bodies: BodyCache;
  pacer: Pacer;
  /** How long the store may take, in milliseconds; default: 15 s. */
  storeTimeoutMs?: number | undefined;
  /** Clients are led to the object store where it has addresses. Default: no. */
  redirect?: boolean | undefined;
}): FileFinder {
  const { context, database, bodies, pacer, redirect = false } = parts;
  const store = createBoundedStore(parts.objectStore, parts.storeTimeoutMs);
  const damaged = createDamagedFiles({ context, database, store });
  let known = new LRUCache<string, PublishedFacts>({ max: MAX_FACTS });
  const tables = new LRUCache<string, FragmentTable>({
    maxSize: MAX_FRAGMENTS,
    sizeCalculation: ({ fragments }) => fragments.length,
  });

  /** Look-ups under way: many at once for one file read its row, with all its fragments, once. */
  const looking = new Map<string, Promise<BundleRow | null>>();
  const rowOf = (network: string, kind: Kind, block: number): Promise<BundleRow | null> => {
    const name = `${network}/${kind}/${block}`;
    const begun = looking.get(name);
    if (begun !== undefined) return begun;
    const row = database
      .network(network)
      .bundles.covering(kind, block)
      .finally(() => looking.delete(name));
    looking.set(name, row);
    return row;
  };

  const tableOf = async (file: PublishedFacts): Promise<FragmentTable> => {
    const kept = tables.get(file.objectKey);
    if (kept !== undefined) return kept;
    const row = await database.network(file.network).bundles.covering(file.kind, file.start);
    if (row?.objectKey !== file.objectKey) throw replaced();
    const table = { fragments: row.fragments, bodies: new Map<number, number>() };
    tables.set(file.objectKey, table);
    return table;
  };
  const serve = async (facts: PublishedFacts): Promise<ServedFile> => {
    await damaged.check(facts);
    return publishedFile(facts, { store, bodies, damaged, pacer, redirect, tableOf });
  };

  const published = (
    name: string,
    row: BundleRow,
    memory: LRUCache<string, PublishedFacts>,
  ): Promise<ServedFile> => {
    const facts = factsOf(row);
    // Into the memory of the time of the query: if that was dropped since, the row is dropped with it.
    memory.set(name, facts);
    return serve(facts);
  };

  const publishedBlock = async (row: BundleRow, block: number): Promise<ServedFile> => {
    const slice = sliceOfMember(row.fragments, block, block);
    const [fragment] = slice.fragments;
    if (fragment === undefined) throw new Error(`no fragment of ${row.objectKey} holds block ${block}`);
    const read = async (): Promise<Buffer> => {
      const held = bodies.peek(row.objectKey)?.subarray(slice.range.start, slice.range.end + 1);
      if (held !== undefined) return held;
      const bytes = await store.read(row.objectKey, slice.range);
      // Where the block shares its fragment, its record is read out of the text, which is checked then.
      if (fragment.startBlock !== fragment.endBlock) return bytes;
      const check = createRangeCheck(row.fragments, slice.range, { maxExtraBytes: 0, bodies: new Map() });
      await check.push(bytes);
      check.finish();
      return bytes;
    };
    try {
      const folder = `${row.network}/${row.kind}`;
      return await blockFile({ folder, block, fragment, read, immutable: true }, bodies);
    } catch (error) {
      throw damaged.found(factsOf(row), error) ? fileDamaged() : error;
    }
  };

  const single = async (network: string, kind: Kind, block: number, name: string): Promise<ServedFile> => {
    const memory = known;
    const location = await database.network(network).locate(kind, block);
    if (location.state === 'published') {
      const { bundle } = location;
      return bundle.start === block && bundle.end === block
        ? published(name, bundle, memory)
        : publishedBlock(bundle, block);
    }
    if (location.state === 'absent') throw await absent(database, network, kind, block);
    const { fragment } = location;
    return blockFile(
      {
        folder: `${network}/${kind}`,
        block,
        fragment,
        read: async () => {
          const [body] = await database
            .network(network)
            .staging.bodies(kind, [fragment.startBlock], [fragment.crc32]);
          return body as Buffer;
        },
        immutable: false,
      },
      bodies,
    );
  };

  const superseded = watchSuperseded(
    () => database.bundles.supersededCount(),
    () => {
      known = new LRUCache({ max: MAX_FACTS });
    },
  );

  return {
    close() {
      superseded.close();
      damaged.close();
    },
    async find(network, kind, { start, end }) {
      const name = `${network}/${kind}/${start}-${end}`;
      const facts = known.get(name);
      if (facts !== undefined) return serve(facts);
      if (start !== end) {
        const memory = known;
        const row = await rowOf(network, kind, start);
        if (row !== null && row.start === start && row.end === end) return published(name, row, memory);
        throw unknown();
      }
      for (let tries = 1; ; tries += 1) {
        try {
          return await single(network, kind, start, name);
        } catch (error) {
          // Packed and reclaimed, or reorganised, between the look-up and the read: the next try finds it.
          if (!isPackhouseError(error, 'STAGE_CONFLICT') || tries === LOOKS) throw error;
        }
      }
    },
  };
}

function factsOf(row: BundleRow): PublishedFacts {
  const { network, kind, start, end, version, objectKey, byteLength, sha256 } = row;
  return { network, kind, start, end, version, objectKey, byteLength, sha256 };
}

/** The refusal for a part of a file that was superseded since its row was read. */
function replaced(): Problem {
  return new Problem('unavailable', {
    detail: 'The file was published again a moment ago; try again in 1 second.',
    members: { retryAfter: 1, retryAfterMs: 1_000 },
    headers: { 'retry-after': '1' },
  });
}

async function absent(database: Database, network: string, kind: Kind, block: number): Promise<Problem> {
  return (await removedBlock(database, network, kind, block)) ?? unknown();
}

function unknown(): Problem {
  return new Problem('file-unknown', {
    detail:
      'There is no file of this range; ask the bundle interface for the pointer of a block, and use its download_link.',
  });
}

/** The refusal for a block that a reorganisation removed within the last 24 hours; null if none did. */
export async function removedBlock(
  database: Database,
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const abandoned = await database.network(network).staging.abandonedAt(block);
  if (abandoned === null) return null;
  return new Problem('reorganised', {
    detail: `Block ${block} with hash ${abandoned.hash} was removed by a reorganisation of the chain; ask for the pointer of block ${block} again.`,
    members: { kind, block, hash: abandoned.hash, abandonedAt: abandoned.at.toISOString() },
  });
}

/**
 * Calls `onChange` if a bundle was superseded since the last look-up. While the database is away, the rows kept in
 * memory stay in use.
 */
function watchSuperseded(countNow: () => Promise<number>, onChange: () => void): { close(): void } {
  let last: number | undefined;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const count = await countNow();
      if (count !== last) onChange();
      last = count;
    } catch {
      // The next look-up will notice.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
