import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { createPost } from '@packhouse/outbound';
import {
  createChangeSource,
  createFeed,
  createHookDelivery,
  createLogMatcher,
  type HookNetwork,
  hookLoop,
} from '@packhouse/pipeline';
import type { Queues } from '@packhouse/queue';
import { type Context, createAddressList, getOrAdd } from '@packhouse/runtime';

interface HookParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  queues: Queues;
  redisUrl: string | undefined;
  /** Those in force now. */
  networks(): readonly Network[];
  /** Of the gateway, for the links of steps; undefined: links have no host. */
  publicUrl: string | undefined;
  /** Addresses and ranges that may get deliveries though they are not public. */
  allowed: readonly string[];
  timeoutMs: number;
  concurrency: number;
  quarantineDays: number;
}

/** Starts to deliver to webhooks. Returns what ends it, once the running deliveries have ended. */
export async function startHooks(parts: HookParts): Promise<() => Promise<void>> {
  const { context, database, objectStore, queues, publicUrl = '' } = parts;
  const changes = createChangeSource({ context, database, redisUrl: parts.redisUrl });
  const opened = new Map<string, Omit<HookNetwork, 'downloadUrl'> & { close(): void }>();
  const find = (id: string): Network | undefined => parts.networks().find((each) => each.id === id);
  const open = (network: string) =>
    getOrAdd(opened, network, () => {
      const feed = createFeed({ context, database, network, changes });
      return { feed, matcher: createLogMatcher(database.network(network), objectStore), close: feed.close };
    });
  const deliver = createHookDelivery({
    context,
    database,
    seal: await database.operators.seal(),
    post: createPost({ allowed: createAddressList(parts.allowed), timeoutMs: parts.timeoutMs }),
    network: (id) => {
      const network = find(id);
      if (network === undefined) return undefined;
      return { ...open(id), downloadUrl: network.downloadUrl ?? `${publicUrl}/${id}/files` };
    },
    quarantineDays: parts.quarantineDays,
  });
  const worker = await queues.work('hook', deliver, {
    concurrency: parts.concurrency,
    takes: ({ network }) => find(network) !== undefined,
  });
  const looking = hookLoop({ context, database, queues, changes });
  return async () => {
    for (const each of opened.values()) each.close();
    await Promise.all([looking, worker.close()]);
    await changes.close();
  };
}
