import type { FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind, TableName } from '@packhouse/chain';
import type { BundleRow, Database, LakeFile } from '@packhouse/database';
import { type Context, getOrAdd, isPackhouseError } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import type { BodyCache } from '../cache/body-cache.js';
import type { Pacer } from '../http/paced-pieces.js';
import { Problem, unavailable } from '../http/problem.js';
import { findRemovedBlock } from '../pointers/find-pointer.js';
import type { BoundedStore } from './bounded-store.js';
import { type BundleFacts, createDamagedFiles } from './damaged-files.js';
import { getFacts, openPublishedBlock } from './published-block.js';
import { createHashCheck } from './require-hash.js';
import {
  type FragmentTable,
  openBlockFile,
  openDataFile,
  openPublishedFile,
  type ServedFile,
} from './served-file.js';

/** Most rows of published bundles kept, without their fragment tables: about 500 bytes each. */
const MAX_FACTS = 20_000;

/** Most fragments in the tables that are kept for ranges of streamed files: about 150 bytes each. */
const MAX_FRAGMENTS = 100_000;

/** How often superseded bundles are looked for, in milliseconds; until then a download may return the old bundle. */
const POLL_MS = 500;

/** Look-ups of a block; a reorganisation during each of them is more than any chain has. */
const MAX_LOOKUPS = 4;

export type FileFinder = ReturnType<typeof createFileFinder>;

/**
 * Creates the finder. A name resolves to a published bundle of exactly this range; `n-n` also to a staged block and to
 * a block inside a published bundle, so that every link keeps resolving after packing.
 */
export function createFileFinder(parts: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  database: Database;
  store: BoundedStore;
  bodies: BodyCache;
  pacer: Pacer;
  /** Clients are led to the object store where it has addresses. Default: no. */
  redirect?: boolean | undefined;
}) {
  const { context, database, store, bodies, pacer, redirect = false } = parts;
  const damaged = createDamagedFiles({ context, database, store });
  const requireHash = createHashCheck({ database, store, bodies, damaged });
  let known = new LRUCache<string, BundleFacts>({ max: MAX_FACTS });
  const getTable = createTables(database);
  const getRow = createRows(database);

  const serve = async (facts: BundleFacts): Promise<ServedFile> => {
    await damaged.check(facts);
    return openPublishedFile(facts, { store, bodies, damaged, pacer, redirect, getTable });
  };

  const servePublished = (
    name: string,
    row: BundleRow,
    memory: LRUCache<string, BundleFacts>,
  ): Promise<ServedFile> => {
    const facts = getFacts(row);
    // Into the memory of the time of the query: if that was dropped since, the row is dropped with it.
    memory.set(name, facts);
    return serve(facts);
  };

  const findBlock = async ({ network, kind, block, hash }: BlockName): Promise<ServedFile> => {
    const memory = known;
    const location = await database.network(network).locate(kind, block);
    if (hash !== undefined) await requireHash({ network, kind, block, hash }, location);
    if (location.state === 'published') {
      const { bundle } = location;
      return bundle.firstBlock === block && bundle.lastBlock === block
        ? servePublished(`${network}/${kind}/${block}-${block}`, bundle, memory)
        : openPublishedBlock(bundle, block, { store, bodies, damaged });
    }
    if (location.state === 'absent') {
      throw (await findRemovedBlock(database, network, kind, block)) ?? fileUnknown();
    }
    const { fragment } = location;
    const read = (): Promise<Buffer> => readStaged(database, { network, kind, fragment });
    return openBlockFile({ folder: `${network}/${kind}`, block, fragment, read, immutable: false }, bodies);
  };

  const superseded = watchSuperseded(
    () => database.bundles.supersededCount(),
    () => {
      known = new LRUCache({ max: MAX_FACTS });
    },
  );

  return {
    /** Stops looking for superseded bundles. */
    close(): void {
      superseded.close();
      damaged.close();
    },
    /** A data file of the lake. Throws the problem `file-damaged`, and what the store throws. */
    async dataFile(network: string, kind: TableName, file: LakeFile): Promise<ServedFile> {
      const { bytes: byteLength, addedSnapshot: version, ...row } = file;
      const facts = { ...row, network, kind, byteLength, version };
      await damaged.check(facts);
      return openDataFile(facts, { store, damaged, pacer });
    },
    /**
     * With a hash, the file of one block, if that is the block of this hash. Throws the problems `file-unknown`,
     * `reorganised` and `file-damaged`, and what the database and the store throw.
     */
    async find(
      network: string,
      kind: Kind,
      { firstBlock, lastBlock }: BlockRange,
      hash?: string,
    ): Promise<ServedFile> {
      const name = `${network}/${kind}/${firstBlock}-${lastBlock}`;
      const facts = hash === undefined ? known.get(name) : undefined;
      if (facts !== undefined) return serve(facts);
      if (firstBlock !== lastBlock) {
        const memory = known;
        const row = await getRow(network, kind, firstBlock);
        if (row?.firstBlock !== firstBlock || row.lastBlock !== lastBlock) throw fileUnknown();
        return servePublished(name, row, memory);
      }
      return lookAgain(() => findBlock({ network, kind, block: firstBlock, hash }));
    },
  };
}

/** Packed and reclaimed, or reorganised, between the look-up and the read: the next try finds it. */
async function lookAgain<T>(look: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await look();
    } catch (error) {
      if (!isPackhouseError(error, 'STAGE_CONFLICT') || tries === MAX_LOOKUPS) throw error;
    }
  }
}

/** A block of a kind; with a hash, no other block of the number. */
interface BlockName {
  network: string;
  kind: Kind;
  block: number;
  hash: string | undefined;
}

/** Reads rows of published bundles; look-ups at once for one file read its row, with all its fragments, once. */
function createRows(database: Database) {
  const looking = new Map<string, Promise<BundleRow | null>>();
  return (network: string, kind: Kind, block: number): Promise<BundleRow | null> => {
    const name = `${network}/${kind}/${block}`;
    const { bundles } = database.network(network);
    return getOrAdd(looking, name, () => bundles.covering(kind, block).finally(() => looking.delete(name)));
  };
}

async function readStaged(
  database: Database,
  { network, kind, fragment }: { network: string; kind: Kind; fragment: FragmentInfo },
): Promise<Buffer> {
  const { staging } = database.network(network);
  const [body] = await staging.bodies(kind, [fragment.firstBlock], [fragment.crc32]);
  return body as Buffer;
}

/** Reads the fragment tables of published files, and keeps some. */
function createTables(database: Database): (file: BundleFacts) => Promise<FragmentTable> {
  const tables = new LRUCache<string, FragmentTable>({
    maxSize: MAX_FRAGMENTS,
    sizeCalculation: ({ fragments }) => fragments.length,
  });
  return async ({ network, kind, firstBlock, objectKey }) => {
    const kept = tables.get(objectKey);
    if (kept !== undefined) return kept;
    const row = await database.network(network).bundles.covering(kind, firstBlock);
    if (row?.objectKey !== objectKey) throw unavailable('The file was just published again');
    const table = { fragments: row.fragments, bodies: new Map<number, number>() };
    tables.set(objectKey, table);
    return table;
  };
}

function fileUnknown(): Problem {
  return new Problem('file-unknown', {
    detail: 'No file has this range; request the pointer of a block and use its download_link.',
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
  const timer = setInterval(() => void look(), POLL_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
