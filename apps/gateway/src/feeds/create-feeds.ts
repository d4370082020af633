import type { Database } from '@packhouse/database';
import { type ChangeSource, createChangeSource, createFeed, type Feed } from '@packhouse/feed';
import type { QueueReader } from '@packhouse/queue';
import { type Context, getOrAdd } from '@packhouse/runtime';

/** The feeds of all networks. */
export type Feeds = ReturnType<typeof createFeeds>;

/** How a feed is sent. */
type FeedTransport = 'poll' | 'stream';

/** Creates the feeds; nothing is read or heard before the first request. */
export function createFeeds({
  context,
  database,
  queue,
  changes: given,
}: {
  context: Context;
  database: Database;
  queue?: QueueReader | undefined;
  changes?: ChangeSource | undefined;
}) {
  const changes = given ?? createChangeSource({ context, database, redisUrl: undefined });
  const feeds = new Map<string, Feed>();
  const open = { poll: 0, stream: 0 };
  context.metrics.gauge(
    'packhouse_gateway_feeds',
    'Open feeds, by how they are sent',
    ['transport'],
    (gauge) => {
      for (const [transport, count] of Object.entries(open)) gauge.set({ transport }, count);
    },
  );
  const drain = (): void => {
    for (const feed of feeds.values()) feed.close();
  };
  return {
    /** The feeds of a network. */
    of: (network: string): Feed =>
      getOrAdd(feeds, network, () => createFeed({ context, database, queue, network, changes })),
    /** Counts an open feed until the function that it returns is called. */
    count(transport: FeedTransport): () => void {
      open[transport] += 1;
      return () => {
        open[transport] -= 1;
      };
    },
    /** Ends the waiting of all feeds. */
    drain,
    async close(): Promise<void> {
      drain();
      // The caller closes the source that it gave.
      if (given === undefined) await changes.close();
    },
  };
}
