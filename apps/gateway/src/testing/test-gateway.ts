import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { deflatePiece, memberFrame, objectKey, spliceMember, toFragment } from '@packhouse/bundle';
import { KINDS, type Kind, type NotProved } from '@packhouse/chain';
import { createDatabase, type Database, type StagedBlock } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createDiskStore } from '@packhouse/object-store';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { inject } from 'vitest';
import { createGateway } from '../create-gateway.js';
import type { GatewayOptions } from '../gateway-options.js';

/** `ethereum`, `quiet` without bundles, `logsonly`, and `hosted` at separate host names. */
const NETWORKS = `
networks:
  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: 'http://127.0.0.1:1'}]}
  - {id: quiet, family: evm, chainId: 2, upstreams: [{url: 'http://127.0.0.1:1'}], bundles: {enabled: false}}
  - {id: logsonly, family: evm, chainId: 3, upstreams: [{url: 'http://127.0.0.1:1'}], bundles: {kinds: [logs]}}
  - id: hosted
    family: evm
    chainId: 4
    baseUrl: 'https://hosted.example.com/v1/'
    downloadUrl: 'https://files.example.com'
    upstreams: [{url: 'http://127.0.0.1:1'}]
`;

/** A gateway on a new database and folder, with functions that add data. */
export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

interface StageOptions {
  group?: number;
  network?: string;
  branch?: string;
  /** Branch of the parent of the first block; default: the main one, `a`. */
  parent?: string;
  /** Kinds but blocks have no records in these blocks. */
  isEmpty?(block: number): boolean;
  kinds?: readonly Kind[];
  /** What of these blocks is not proved. */
  notProved?: readonly NotProved[];
}

/** The hash of a block on a branch. */
export function hashOf(number: number, branch = 'a'): string {
  return `0x${createHash('sha256').update(`${branch}:${number}`).digest('hex')}`;
}

/** The record of a block as these tests write it. */
export function toRecord(kind: Kind, number: number, branch = 'a'): string {
  const hash = `"${kind === 'blocks' ? 'hash' : 'blockHash'}":"${hashOf(number, branch)}"`;
  const facts = `{"number":"0x${number.toString(16)}","kind":"${kind}","branch":"${branch}",${hash},"filler":"${'0123456789abcdef'.repeat(8)}"}`;
  return kind === 'blocks' ? facts : `[${facts}]`;
}

/**
 * Starts a gateway without `publicUrl`, so that links lead back to it. It has the database of the test, or its own one
 * that `reach` opens at the same address.
 */
export async function startTestGateway(
  options: Partial<GatewayOptions> = {},
  reach?: (url: string, context: Context) => Promise<Database>,
) {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const directory = await mkdtemp(path.join(os.tmpdir(), 'packhouse-gateway-'));
  const log: string[] = [];
  const time = { offset: 0, frozenAt: null as number | null };
  const now = (): number => (time.frozenAt ?? Date.now()) + time.offset;
  const context: Context = {
    logger: createLogger({
      name: 'test',
      level: 'trace',
      destination: { write: (line) => void log.push(line) },
    }),
    metrics: createMetrics(),
    clock: { ...systemClock, now, elapsed: now },
    signal: new AbortController().signal,
  };
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'gateway test' });
  const objectStore = await createDiskStore({ directory, context });
  const networks: Network[] = parseNetworks(NETWORKS, { source: 'test', env: {} });
  for (const { id, chainId } of networks) await database.networks.register({ id, chainId });
  const reached = await reach?.(fresh.url, context);
  const gateway = await createGateway({
    context,
    database: reached ?? database,
    objectStore,
    networks,
    publicMetrics: true,
    ...options,
  });
  const port = await gateway.listen(0, '127.0.0.1');

  return {
    url: `http://127.0.0.1:${port}`,
    /** For what no program does. */
    databaseUrl: fresh.url,
    gateway,
    database,
    objectStore,
    context,
    /** The log at all levels, one JSON line an entry. */
    log,
    /** The gateway's clock: `offset` milliseconds are added; a frozen clock does not advance. */
    time,
    makeKey: (plan = 'unlimited', network: string | null = null, expiresAt: Date | null = null) =>
      database.keys.create({ application: 'test', network, plan, expiresAt }),

    /** Stages `start` to `end` of all kinds; `group` blocks share a fragment. */
    async stage(start: number, end: number, options: StageOptions = {}): Promise<void> {
      const { group = 1, network = 'ethereum', branch = 'a', parent = 'a', kinds = KINDS } = options;
      const { isEmpty, notProved = [] } = options;
      const numbers = Array.from({ length: end - start + 1 }, (_, at) => start + at);
      await database.network(network).staging.stage({
        blocks: numbers.map((number) => ({
          number,
          hash: hashOf(number, branch),
          parentHash: hashOf(number - 1, number === start ? parent : branch),
          timestamp: 1_600_000_000 + number,
          transactionCount: 1,
          proofs: ['headerHash'],
          notProved,
        })),
        kinds: await Promise.all(
          kinds.map(async (kind) => {
            const fragments = [];
            for (let first = start; first <= end; first += group) {
              const last = Math.min(end, first + group - 1);
              const texts = numbers
                .filter((n) => first <= n && n <= last)
                .map((n) => (kind !== 'blocks' && isEmpty?.(n) ? '[]' : toRecord(kind, n, branch)));
              const piece = await deflatePiece(Buffer.from(texts.join(',')));
              fragments.push(toFragment({ firstBlock: first, lastBlock: last }, piece));
            }
            return { kind, fragments };
          }),
        ),
      });
    },

    /** Publishes the staged blocks of these kinds (default: all) as one bundle each; returns the files. */
    async publish(
      firstBlock: number,
      lastBlock: number,
      kinds: readonly Kind[] = KINDS,
      network = 'ethereum',
    ): Promise<Map<Kind, Buffer>> {
      const files = new Map<Kind, Buffer>();
      for (const kind of kinds) {
        const { bundles, staging } = database.network(network);
        const fragments = await staging.fragments(kind, { firstBlock, lastBlock });
        const starts = fragments.map((fragment) => fragment.firstBlock);
        const bodies = await staging.bodies(kind, starts);
        const file = Buffer.concat(spliceMember(fragments, bodies).chunks);
        const sha256 = createHash('sha256').update(file).digest('hex');
        const key = objectKey({ network, kind, firstBlock, lastBlock });
        await objectStore.put(key, file, { sha256, contentType: 'application/gzip', metadata: {} });
        const staged = await staging.blocks({ firstBlock, lastBlock });
        const [first, last] = [staged[0] as StagedBlock, staged.at(-1) as StagedBlock];
        await bundles.publish({
          kind,
          firstBlock,
          lastBlock,
          objectKey: key,
          byteLength: file.length,
          rawLength: memberFrame(fragments).rawLength,
          sha256,
          firstHash: first.hash,
          firstParentHash: first.parentHash,
          lastHash: last.hash,
          proofs: ['headerHash'],
          notProved: first.notProved,
          fragments,
          formatVersion: 1,
        });
        files.set(kind, file);
      }
      return files;
    },

    /** Ends Postgres for everybody, permanently. */
    losePostgres: () => fresh.drop(),

    async close(): Promise<void> {
      await gateway.close();
      await objectStore.close();
      await database.close();
      await fresh.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a gateway for the networks of a networks file, with a key to it. */
export async function startNetworks(networksFile: string): Promise<{ at: TestGateway; key: string }> {
  const at = await startTestGateway({ networks: parseNetworks(networksFile, { source: 'test', env: {} }) });
  return { at, key: (await at.makeKey()).key };
}
