import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createDeflater } from '@packhouse/bundle';
import { createProver, KINDS, type Kind } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { createDiskStore, type ObjectStore } from '@packhouse/object-store';
import { createQueues, type Job, type QueueName, type Queues, type Worker } from '@packhouse/queue';
import { createReplayNode, type ReplayNode, type ReplayNodeOptions } from '@packhouse/replay-node';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { follow } from '../ingest/follow.js';
import { ingest } from '../ingest/ingest.js';
import type { IngestParts } from '../ingest/ingest-piece.js';
import { plan } from '../plan/plan.js';
import { pack } from '../publish/pack.js';
import { publish } from '../publish/publish.js';
import { openSigners, type SignerSource } from '../publish/sign.js';
import { createQuickClock } from './quick-clock.js';

type FollowParts = Parameters<typeof follow>[0];

/** The parts that a pipeline test needs, all real except the node. */
export interface World {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  signers: SignerSource;
  queues: Queues;
  network: Network;
  nodes: ReplayNode[];
  /** The address of its Postgres, for the views of other processes. */
  databaseUrl: string;
  /** The parts of ingest, follow and stage. */
  parts: IngestParts;
  /** Wants a range of all kinds; end null follows the head. */
  want(start: number, end: number | null): Promise<void>;
  /** Notes the head of the first node as the chain's. */
  noteHead(): Promise<void>;
  /** One poll of the head, which stages all that it can, however slow the machine is. */
  follow(changed?: Partial<FollowParts>): ReturnType<typeof follow>;
  /** Packs and publishes all possible bundles of every kind. Returns their number. */
  packAll(objectStore?: ObjectStore): Promise<number>;
  /** Plans and runs every ingest and pack job, repeatedly, until nothing is left to do. */
  settle(objectStore?: ObjectStore): Promise<void>;
  /** The records of a kind by block number, from the published files, as JSON. */
  published(kind: Kind, objectStore?: ObjectStore): Promise<Map<number, string>>;
  /** What is quarantined: first and last block, kinds, cause. */
  quarantined(): Promise<(string | number)[][]>;
  close(): Promise<void>;
}

/** Makes a world with one replay node per entry of `nodes`, each asked for `timeoutMs` at most. */
export async function makeWorld(
  postgresUrl: string,
  nodes: ReplayNodeOptions[],
  bundles: object = {},
  timeoutMs = 2_000,
): Promise<World> {
  const stop = new AbortController();
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: stop.signal,
  };
  const [directory, fresh, running] = await Promise.all([
    mkdtemp(path.join(tmpdir(), 'packhouse-pipeline-')),
    freshDatabase(postgresUrl, { addition: queueTables(context) }),
    Promise.all(nodes.map((options) => createReplayNode(options))),
  ]);
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  const objectStore = await createDiskStore({ directory: path.join(directory, 'objects') });
  const [signers, queues] = await Promise.all([
    openSigners({ context, database, file: path.join(directory, 'signing-key.pem') }),
    createQueues({ databaseUrl: fresh.url, context }),
    database.networks.register({ id: 'main', chainId: 1 }),
  ]);
  const file = {
    networks: [
      {
        id: 'main',
        family: 'evm',
        chainId: 1,
        upstreams: running.map((node, i) => ({ name: `node-${i + 1}`, url: node.url, priority: i + 1 })),
        bundles,
      },
    ],
  };
  const network = parseNetworks(JSON.stringify(file), { source: 'test', env: {} })[0] as Network;
  // Pauses before a node is asked again only take time; between several nodes they decide who answers.
  const clock = nodes.length === 1 ? createQuickClock() : context.clock;
  const source = createBlockSource({ network, context: { ...context, clock }, timeoutMs });
  const prover = await createProver(network.proofs);
  const deflater = createDeflater({ context });
  const parts = {
    context,
    database: database.network(network.id),
    source,
    prover,
    network: network.id,
    maxFragmentBlocks: network.bundles.maxBlocks,
    deflate: deflater.deflate,
  };

  const packAll = async (store = objectStore): Promise<number> => {
    const publishing: Parameters<typeof pack>[0] = {
      context,
      database,
      network,
      publish: (...each) => publish({ context, database, objectStore: store, signers }, ...each),
    };
    let published = 0;
    for (const kind of KINDS) published += await pack(publishing, kind, stop.signal);
    return published;
  };

  const planned = async (): Promise<boolean> =>
    (await plan({ context, database, queues, network })).ingestJobs > 0;
  const hasJobs = async (): Promise<boolean> => (await queues.pendingIds('ingest')).size > 0;

  return {
    context,
    database,
    objectStore,
    signers,
    queues,
    network,
    nodes: running,
    databaseUrl: fresh.url,
    parts,
    async want(from, to) {
      await database.network('main').backfills.add({ kinds: [...KINDS], from, to, priority: 1 });
    },
    async noteHead() {
      const { number, hash, finalized } = await source.head();
      await database.network('main').head.set({ number, hash, finalized });
    },
    follow(changed = {}) {
      // A poll ends early once it takes seconds: its time stands still.
      const clock = { ...context.clock, elapsed: () => 0 };
      return follow({ ...parts, context: { ...context, clock }, ...changed }, stop.signal);
    },
    packAll,
    async settle(store) {
      const work = async ({ payload }: Job<'ingest'>): Promise<void> =>
        void (await ingest(parts, payload, stop.signal));
      let worker: Worker | undefined;
      try {
        while ((await planned()) || (await hasJobs())) {
          worker ??= await queues.work('ingest', work, { concurrency: 2 });
          while (await hasJobs()) await systemClock.sleep(10);
        }
      } finally {
        await worker?.close();
      }
      await packAll(store);
    },
    async published(kind, store = objectStore) {
      const records = new Map<number, string>();
      for (const row of await database.network('main').bundles.list(kind, 0, 10_000)) {
        const bytes = await store.read(row.objectKey);
        const array = JSON.parse(gunzipSync(bytes).toString()) as unknown[];
        for (const [i, record] of array.entries()) records.set(row.firstBlock + i, JSON.stringify(record));
      }
      return records;
    },
    quarantined: async () =>
      (await database.network('main').quarantine.list()).map(({ firstBlock, lastBlock, kinds, cause }) => [
        firstBlock,
        lastBlock,
        kinds.join(),
        cause,
      ]),
    async close() {
      stop.abort();
      await Promise.all([queues.close(), source.close(), deflater.close()]);
      await Promise.all([...running.map((node) => node.close()), database.close()]);
      await Promise.all([fresh.drop(), rm(directory, { recursive: true, force: true })]);
    },
  };
}

/** Removes all jobs of a queue that has no worker. */
export async function emptyQueue(queues: Queues, queue: QueueName): Promise<void> {
  await queues.remove(queue, [...(await queues.pendingIds(queue))]);
}

/** The tables of the queue, which take longer to make than all else of a world. */
function queueTables(context: Context): { name: string; add(url: string): Promise<void> } {
  return {
    name: 'queue',
    add: async (databaseUrl) => (await createQueues({ databaseUrl, context })).close(),
  };
}
