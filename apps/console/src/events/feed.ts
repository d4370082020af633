import type { PassThrough } from 'node:stream';
import type { Context } from '@packhouse/runtime';
import { createRowChanges, type RowChanges } from './row-changes.js';

/** Rows that pages show while they change. */
export interface Topic {
  /** The name of its events. */
  readonly name: string;
  read(): Promise<readonly object[]>;
  /** What makes a row another one. */
  keyOf(row: object): string;
}

/** One open page. */
interface Listener {
  readonly stream: PassThrough;
  readonly topics: ReadonlySet<string>;
  /** Whether its session lives and may look. Rejects if that cannot be known. */
  mayListen(): Promise<boolean>;
}

/** What changed, sent to the pages that listen. */
interface Feed {
  readonly size: number;
  /** Sends it all rows of its topics, and then what changes, until its stream closes. */
  add(listener: Listener): void;
  /** Ends all streams. */
  close(): Promise<void>;
}

/** Pause between two looks, in milliseconds: with the time of the look, less than a second. */
const EVERY_MS = 500;
/** A page that hears nothing for longer takes its stream as cut (`web/src/lib/live.ts`); in milliseconds. */
const BEAT_MS = 5_000;
/** A page that does not read so many bytes is cut; it asks anew when it is awake. */
const MOST_UNSENT_BYTES = 4_194_304;

/**
 * Creates the feed. It reads each topic once for all pages, and nothing while no page listens.
 *
 * Events: one named as its topic (see `RowChanges`); `beat` {ageMs, problem}: how old the figures are, and the error of
 * the last look; `ended`: the session has ended.
 */
export function createFeed(parts: {
  context: Context;
  topics: readonly Topic[];
  /** An error as JSON tells it. */
  describe(error: unknown): object;
}): Feed {
  const { context, describe, topics } = parts;
  const { clock, logger } = context;
  const listeners = new Map<Listener, Set<string>>();
  const known = new Map<string, RowChanges>();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let problem: object | null = null;
  let readAt = clock.elapsed();
  let beatAt = 0;
  let id = 0;
  context.metrics.gauge('packhouse_console_listeners', 'Open pages that hear of changes.', [], (gauge) =>
    gauge.set(listeners.size),
  );

  const send = (listener: Listener, event: string, data: object): void => {
    const { stream } = listener;
    stream.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (stream.writableLength > MOST_UNSENT_BYTES) drop(listener);
  };
  const drop = (listener: Listener): void => {
    listeners.delete(listener);
    listener.stream.end();
  };

  const checkSessions = (): Promise<unknown> =>
    Promise.all(
      [...listeners.keys()].map(async (listener) => {
        if (await listener.mayListen()) return;
        send(listener, 'ended', {});
        drop(listener);
      }),
    );

  const readTopic = async ({ name, keyOf, read }: Topic): Promise<void> => {
    const rows = await read();
    const changes = known.get(name) ?? createRowChanges(keyOf);
    known.set(name, changes);
    const changed = changes.take(rows);
    id += 1;
    for (const [listener, told] of listeners) {
      if (!listener.topics.has(name)) continue;
      if (!told.has(name)) send(listener, name, changes.all());
      else if (changed !== null) send(listener, name, changed);
      told.add(name);
    }
  };

  const look = async (): Promise<void> => {
    const before = problem;
    try {
      await checkSessions();
      const heard = topics.filter(({ name }) => [...listeners.keys()].some((each) => each.topics.has(name)));
      await Promise.all(heard.map(readTopic));
      readAt = clock.elapsed();
      problem = null;
    } catch (error) {
      problem = describe(error);
      if (before === null)
        logger.warn({ err: error }, 'what pages show could not be read; it is tried again');
    }
    if ((before === null) !== (problem === null)) beat();
  };
  const beat = (): void => {
    beatAt = clock.elapsed();
    for (const listener of listeners.keys()) {
      send(listener, 'beat', { ageMs: Math.round(clock.elapsed() - readAt), problem });
    }
  };

  const run = async (): Promise<void> => {
    while (listeners.size > 0 && !closing.signal.aborted) {
      await look();
      await clock.sleep(EVERY_MS, closing.signal).catch(() => undefined);
    }
    known.clear();
    problem = null;
    running = undefined;
  };
  // Also while a look hangs.
  const beats = setInterval(() => {
    if (clock.elapsed() - beatAt >= BEAT_MS) beat();
  }, BEAT_MS);
  beats.unref();

  return {
    get size() {
      return listeners.size;
    },
    add(listener) {
      listeners.set(listener, new Set());
      listener.stream.on('close', () => listeners.delete(listener));
      // Its headers are sent with the first bytes.
      listener.stream.write(': open\n\n');
      running ??= run();
    },
    async close() {
      clearInterval(beats);
      closing.abort(new Error('the console closes'));
      for (const listener of listeners.keys()) drop(listener);
      await running;
    },
  };
}
