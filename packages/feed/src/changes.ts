import { type Database, parseNotice } from '@packhouse/database';
import { NOTICES } from '@packhouse/pipeline';
import { openRedisChannel } from '@packhouse/queue';
import { type Context, getOrAdd } from '@packhouse/runtime';

/** Hears of the changes of one network. */
interface ChangeListener {
  changed(range: { firstBlock: number; lastBlock: number }): void;
  /** Notices may have been lost. `hears`: from now on none is. */
  lost(hears: boolean): void;
}

/** Where feeds hear of changes: one connection of a process, opened by the first listener. */
export interface ChangeSource {
  /** Returns a function that ends it. */
  listen(network: string, listener: ChangeListener): () => void;
  close(): Promise<void>;
}

/** Hears of changes over Redis if there is one, or else over LISTEN. */
export function createChangeSource(parts: {
  context: Context;
  database: Pick<Database, 'listen'>;
  redisUrl: string | undefined;
}): ChangeSource {
  const { context, database, redisUrl } = parts;
  const listeners = new Map<string, Set<ChangeListener>>();
  let source: { close(): unknown } | undefined;
  let isHearing = false;
  const lost = (hears: boolean): void => {
    isHearing = hears;
    for (const all of listeners.values()) for (const each of all) each.lost(hears);
  };
  const open = (): { close(): unknown } => {
    if (redisUrl === undefined) {
      return database.listen({
        changed: ({ network, ...range }) => {
          for (const each of listeners.get(network) ?? []) each.changed(range);
        },
        lost,
      });
    }
    const channel = openRedisChannel(redisUrl, context);
    const received = (text: string): void => {
      for (const { network, ...range } of parseNotice(text))
        for (const each of listeners.get(network) ?? []) each.changed(range);
    };
    channel.subscribe(NOTICES, { received, lost });
    return channel;
  };

  return {
    listen(network, listener) {
      getOrAdd(listeners, network, () => new Set<ChangeListener>()).add(listener);
      source ??= open();
      if (isHearing) listener.lost(true);
      return () => listeners.get(network)?.delete(listener);
    },
    close: async () => {
      await source?.close();
    },
  };
}
