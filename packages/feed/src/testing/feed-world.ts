import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { objectKey } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import {
  createSigner,
  type FeedStep,
  makeSigningKey,
  readSigningKey,
  type Signer,
} from '@packhouse/manifest';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { type ChangeSource, createChangeSource } from '../changes.js';
import { createFeed, type Feed } from '../create-feed.js';
import type { FeedOptions } from '../read-steps.js';

/** The network of these tests. */
export const NETWORK = 'main';

/** A chain in a database: blocks are hashes, files are lists of them, and no node or object store is needed. */
export type FeedWorld = Awaited<ReturnType<typeof makeFeedWorld>>;

/** The hash of a block on a branch. */
export function hashOf(block: number, branch = 'a'): string {
  return `0x${createHash('sha256').update(`${branch}:${block}`).digest('hex')}`;
}

/** A context whose log and clock the test has. */
export function makeContext(log: string[] = []): Context {
  return {
    logger: createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => void log.push(line) },
    }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
}

/** Makes an empty world, or one more network of another world. */
export async function makeFeedWorld(
  postgresUrl: string,
  network = NETWORK,
  among?: { url: string; signer: Signer },
) {
  const time = { offset: 0 };
  const context = {
    ...makeContext(),
    clock: { ...systemClock, elapsed: () => systemClock.elapsed() + time.offset },
  };
  const fresh =
    among === undefined
      ? await freshDatabase(postgresUrl, { migrated: true })
      : { url: among.url, drop: async () => undefined };
  const open = (): Database =>
    createDatabase({ connectionString: fresh.url, context, applicationName: 'feed test' });
  const database = open();
  await database.networks.register({ id: network, chainId: 1 });
  const main = database.network(network);
  const signer = among?.signer ?? createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
  await database.manifest.registerKey(signer.publicKey);
  const sealing = { signer, clients: [] };
  /** The hashes of the blocks of each file, by its SHA-256. */
  const files = new Map<string, readonly string[]>();
  const closing: (() => unknown)[] = [];

  const toBundle = (
    kind: Kind,
    { firstBlock, lastBlock }: BlockRange,
    hashes: readonly string[],
    version: number,
  ) => {
    const sha256 = createHash('sha256').update(`${kind} ${version} ${hashes.join()}`).digest('hex');
    files.set(sha256, hashes);
    return {
      kind,
      firstBlock,
      lastBlock,
      objectKey: objectKey({ network, kind, firstBlock, lastBlock, version }),
      byteLength: 100,
      rawLength: 1_000,
      sha256,
      firstHash: hashes[0] as string,
      firstParentHash: hashOf(firstBlock - 1),
      lastHash: hashes.at(-1) as string,
      proofs: ['headerHash' as const],
      fragments: [{ firstBlock, lastBlock, byteLength: 10, rawLength: 20, crc32: 1 }],
      formatVersion: 1,
    };
  };

  return {
    context,
    database,
    main,
    /** Lets so much time pass that nothing that was read before is still new enough. */
    later: (): void => {
      time.offset += 1_000;
    },
    url: fresh.url,
    signer,
    files,
    /** Stages blocks, each with fragments of its own; `at` gives the hash of a block, by default that of branch `a`. */
    async stage(
      firstBlock: number,
      lastBlock: number,
      kinds: readonly Kind[],
      at: (block: number) => string = hashOf,
    ) {
      const numbers = Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i);
      const body = deflateRawSync(Buffer.from('{}'));
      await main.staging.stage({
        blocks: numbers.map((number) => ({
          number,
          hash: at(number),
          parentHash: at(number - 1),
          timestamp: 1_600_000_000 + number,
          transactionCount: 0,
          proofs: ['headerHash'],
        })),
        kinds: kinds.map((kind) => ({
          kind,
          fragments: numbers.map((number) => ({
            firstBlock: number,
            lastBlock: number,
            body,
            byteLength: body.length,
            rawLength: 2,
            crc32: number,
          })),
        })),
      });
    },
    /** Publishes what is staged as one file of a kind. */
    async publish(kind: Kind, firstBlock: number, lastBlock: number): Promise<void> {
      const staged = await main.staging.blocks({ firstBlock, lastBlock });
      const hashes = staged.map(({ hash }) => hash);
      const bundle = toBundle(kind, { firstBlock, lastBlock }, hashes, 1);
      await main.bundles.publish({ ...bundle, firstParentHash: staged[0]?.parentHash as string }, sealing);
    },
    /** Publishes a file again, with other bytes of the same blocks. */
    async repair(kind: Kind, block: number): Promise<void> {
      const row = await main.bundles.covering(kind, block);
      if (row === null) throw new Error(`no file of ${kind} has block ${block}`);
      const bundle = toBundle(kind, row, files.get(row.sha256) as string[], row.version + 1);
      await main.bundles.supersede(
        { ...bundle, firstParentHash: row.firstParentHash },
        { sealing, replaces: row.sha256, reason: 'a test' },
      );
    },
    setHead: (number: number, finalized: number, hash = hashOf(number)) =>
      main.head.set({ number, finalized, hash }),
    /** The feeds of another process, with its own connections. */
    openFeed(options: { changes?: ChangeSource; context?: Context } = {}): Feed & { end(): Promise<void> } {
      const own = open();
      const parts = { context, database: own, ...options };
      const changes = options.changes ?? createChangeSource({ ...parts, redisUrl: undefined });
      const feed = createFeed({ ...parts, network, changes });
      let ended: Promise<void> | undefined;
      const end = (): Promise<void> => {
        ended ??= (async () => {
          feed.close();
          await changes.close();
          await own.close();
        })();
        return ended;
      };
      closing.push(end);
      return { ...feed, end };
    },
    async close(): Promise<void> {
      for (const close of closing) await close();
      await database.close();
      await fresh.drop();
    },
  };
}

/** What a reader wants unless it says otherwise. */
export const READ: FeedOptions = {
  final: 'all',
  skipHoles: false,
  limit: 1_000,
  maxBlock: null,
  downloadUrl: 'http://files',
};

/** A step in few words: `bundle logs 0-9`, `new 10 blocks,logs`, `undo 11 to 10`. */
export function inShort(step: FeedStep): string {
  switch (step.step) {
    case 'bundle':
      return `bundle ${step.kind} ${step.range}${step.range.startsWith(`${step.from}-`) ? '' : ` from ${step.from}`}`;
    case 'new':
      return `new ${step.block} ${Object.keys(step.files).join()}`;
    case 'undo':
      return `undo ${step.block} to ${step.to.block}`;
    case 'final':
      return `final ${step.block}`;
    case 'repaired':
      return `repaired ${step.kind} ${step.range}`;
    case 'waiting':
      return `waiting ${step.block} ${step.reason}`;
    case 'skipped':
      return `skipped ${step.kind} ${step.range} ${step.reason}`;
  }
}
