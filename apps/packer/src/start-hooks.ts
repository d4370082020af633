import type { Database } from '@packhouse/database';
import { createHookDelivery, createLogMatcher, type HookNetwork, hookLoop } from '@packhouse/delivery';
import { createChangeSource, createFeed } from '@packhouse/feed';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { createPost } from '@packhouse/outbound';
import type { Queues } from '@packhouse/queue';
import { type Context, createAddressList, getOrAdd } from '@packhouse/runtime';
import type { z } from 'zod';
import type { packerSettings } from './settings.js';

interface HookParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  queues: Queues;
  settings: Pick<
    z.infer<typeof packerSettings>,
    | 'HOOK_ALLOWED_ADDRESSES'
    | 'HOOK_CONCURRENCY'
    | 'HOOK_QUARANTINE_DAYS'
    | 'HOOK_TIMEOUT_MS'
    | 'PUBLIC_URL'
    | 'REDIS_URL'
  >;
  /** Those in force now. */
  networks(): readonly Network[];
}

/** Starts to deliver to webhooks. Returns what ends it, once the running deliveries have ended. */
export async function startHooks(parts: HookParts): Promise<() => Promise<void>> {
  const { context, database, objectStore, queues, settings } = parts;
  const { HOOK_ALLOWED_ADDRESSES: allowed = [], PUBLIC_URL: publicUrl = '' } = settings;
  const changes = createChangeSource({ context, database, redisUrl: settings.REDIS_URL });
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
    post: createPost({ allowed: createAddressList(allowed), timeoutMs: settings.HOOK_TIMEOUT_MS }),
    network: (id) => {
      const network = find(id);
      if (network === undefined) return undefined;
      return { ...open(id), downloadUrl: network.downloadUrl ?? `${publicUrl}/${id}/files` };
    },
    quarantineDays: settings.HOOK_QUARANTINE_DAYS,
  });
  const worker = await queues.work('hook', deliver, {
    concurrency: settings.HOOK_CONCURRENCY,
    takes: ({ network }) => find(network) !== undefined,
  });
  const looking = hookLoop({ context, database, queues, changes });
  return async () => {
    for (const each of opened.values()) each.close();
    await Promise.all([looking, worker.close()]);
    await changes.close();
  };
}
