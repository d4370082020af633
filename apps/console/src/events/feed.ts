import type { PassThrough } from 'node:stream';
import type { Context } from '@packhouse/runtime';
import { createRowChanges, type RowChanges } from './row-changes.js';

/** Rows whose changes are sent to pages. */
export interface Topic {
  /** The name of its events. */
  readonly name: string;
  read(): Promise<readonly object[]>;
  /** The identity of a row. */
  keyOf(row: object): string;
}

/** One open page. */
interface Listener {
  readonly stream: PassThrough;
  readonly topics: ReadonlySet<string>;
  /** Whether its session is valid and may read. Rejects if unknown. */
  mayListen(): Promise<boolean>;
}

/** Sends changes to the pages that listen. */
interface Feed {
  /** Sends it all rows of its topics, and then what changes, until its stream closes. */
  add(listener: Listener): void;
  /** Ends all streams. */
  close(): Promise<void>;
}

/** Pause between two polls: with the time of a poll, less than a second. */
const POLL_MS = 500;
/** After a longer silence a page takes its stream as cut (`web/src/lib/live.ts`). */
const HEARTBEAT_MS = 5_000;
/** A page with more unread bytes is cut off; it reconnects. */
const MAX_UNSENT_BYTES = 4_194_304;

/**
 * Creates the feed. It reads each topic once for all pages, and nothing while no page listens.
 *
 * Events: one named as its topic (see `RowChanges`); `heartbeat` {ageMs, problem}: how old the figures are, and the error
 * of the last poll; `ended`: the session has ended.
 */
export function createFeed(parts: {
  context: Context;
  topics: readonly Topic[];
  /** An error as JSON tells it. */
  describe(error: unknown): object;
}): Feed {
  const { context, describe, topics } = parts;
  const { clock, logger } = context;
  const pages = createListeners();
  const { listeners, send } = pages;
  const known = new Map<string, RowChanges>();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let problem: object | null = null;
  let readAt = clock.elapsed();
  let heartbeatAt = 0;
  context.metrics.gauge('packhouse_console_listeners', 'Open pages that listen to changes.', [], (gauge) =>
    gauge.set(listeners.size),
  );

  const readTopic = async ({ name, keyOf, read }: Topic): Promise<void> => {
    const rows = await read();
    const changes = known.get(name) ?? createRowChanges(keyOf);
    known.set(name, changes);
    const changed = changes.take(rows);
    pages.nextId();
    for (const [listener, sent] of listeners) {
      if (!listener.topics.has(name)) continue;
      if (!sent.has(name)) send(listener, name, changes.all());
      else if (changed !== null) send(listener, name, changed);
      sent.add(name);
    }
  };

  const poll = async (): Promise<void> => {
    const before = problem;
    try {
      await pages.endExpired();
      const inUse = topics.filter(({ name }) => [...listeners.keys()].some((each) => each.topics.has(name)));
      await Promise.all(inUse.map(readTopic));
      readAt = clock.elapsed();
      problem = null;
    } catch (error) {
      problem = describe(error);
      if (before === null) logger.warn({ err: error }, 'reading the rows of pages failed; retrying');
    }
    if ((before === null) !== (problem === null)) sendHeartbeat();
  };
  const sendHeartbeat = (): void => {
    heartbeatAt = clock.elapsed();
    for (const listener of listeners.keys()) {
      send(listener, 'heartbeat', { ageMs: Math.round(clock.elapsed() - readAt), problem });
    }
  };

  const run = async (): Promise<void> => {
    while (listeners.size > 0 && !closing.signal.aborted) {
      await poll();
      await clock.sleep(POLL_MS, closing.signal).catch(() => undefined);
    }
    known.clear();
    problem = null;
    running = undefined;
  };
  // Also while a poll hangs.
  const heartbeats = setInterval(() => {
    if (clock.elapsed() - heartbeatAt >= HEARTBEAT_MS) sendHeartbeat();
  }, HEARTBEAT_MS);
  heartbeats.unref();

  return {
    add(listener) {
      listeners.set(listener, new Set());
      listener.stream.on('close', () => listeners.delete(listener));
      // Its headers are sent with the first bytes.
      listener.stream.write(': open\n\n');
      running ??= run();
    },
    async close() {
      clearInterval(heartbeats);
      closing.abort(new Error('the console closes'));
      for (const listener of listeners.keys()) pages.drop(listener);
      await running;
    },
  };
}

/** The open pages, each with the topics that it has got. */
function createListeners() {
  const listeners = new Map<Listener, Set<string>>();
  let id = 0;
  const drop = (listener: Listener): void => {
    listeners.delete(listener);
    listener.stream.end();
  };
  const send = (listener: Listener, event: string, data: object): void => {
    const { stream } = listener;
    stream.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (stream.writableLength > MAX_UNSENT_BYTES) drop(listener);
  };
  return {
    listeners,
    send,
    drop,
    nextId(): void {
      id += 1;
    },
    /** Ends the streams of expired sessions. */
    async endExpired(): Promise<void> {
      await Promise.all(
        [...listeners.keys()].map(async (listener) => {
          if (await listener.mayListen()) return;
          send(listener, 'ended', {});
          drop(listener);
        }),
      );
    },
  };
}
