import { type BlockRange, unionRanges } from '@packhouse/chain';
import { type Clock, type Context, getOrAdd } from '@packhouse/runtime';
import type pg from 'pg';
import { type Connections, statement } from './connections.js';
import { limited } from './connector.js';
import { destroy } from './end-silent.js';

/* Processes tell each other what changed, so that whoever waits for a block is woken and does not poll. */

/** Blocks of a network of which something changed: they were staged, published, abandoned, quarantined or made final. */
interface Change extends BlockRange {
  network: string;
}

/** How long a change waits for others to be sent with it, in milliseconds. */
const GATHER_MS = 5;
/** Ranges of a network in one notice; beyond that, one that holds all. A notice of Postgres has at most 8,000 bytes. */
const MAX_RANGES = 8;
const MAX_NETWORKS = 16;
/** How often a connection that listens is probed, and how long the answer may take, in milliseconds. */
const PROBE_EVERY_MS = 10_000;
const ANSWER_MS = 5_000;
const RETRY_MS = 1_000;

const CHANNEL = 'packhouse_changes';

/** $1 a notice. */
const notify = statement('notices/notify', `SELECT pg_notify('${CHANNEL}', $1)`);

/** What gets notices. */
export interface NoticeListener {
  changed(change: Change): void;
  /** Notices may have been lost: anything may have changed. `hears`: from now on none is. */
  lost(hears: boolean): void;
}

/** The changes of a notice; none if it is not one of this version. */
export function parseNotice(text: string): Change[] {
  try {
    const rows = JSON.parse(text) as [network: string, firstBlock: number, lastBlock: number][];
    return rows.map(([network, firstBlock, lastBlock]) => ({ network, firstBlock, lastBlock }));
  } catch {
    return [];
  }
}

/**
 * Sends notices of changes that are committed, those of a few milliseconds together. `send` hands a notice over; default:
 * NOTIFY. A notice that cannot be sent is lost, and never fails what it is about: listeners also look by themselves from
 * time to time.
 */
export function createNotices(
  connections: Connections,
  context: Context,
  send?: (text: string) => Promise<unknown>,
) {
  const hand = send ?? ((text: string) => connections.query(notify, [text]));
  const gathered = new Map<string, BlockRange[]>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const texts = takeTexts(gathered);
    const all = texts.map(async (text) => {
      try {
        await hand(text);
      } catch (error) {
        context.logger.warn({ err: error }, 'a notice of a change could not be sent; feeds notice it later');
      }
    });
    sending = Promise.all([sending, ...all]).then(() => undefined);
    return sending;
  };

  return {
    /** Notes a change that is committed. */
    announce({ network, firstBlock, lastBlock }: Change): void {
      getOrAdd(gathered, network, (): BlockRange[] => []).push({ firstBlock, lastBlock });
      timer ??= setTimeout(() => void flush(), GATHER_MS);
    },
    /** Sends what is noted. */
    flush,
    /** Listens on a connection of its own, and connects again when it is lost. Returns a function that ends it. */
    listen: (listener: NoticeListener) => listen(connections, context, listener),
  };
}

/** The range of a change that may be about any block. */
export const ALL_BLOCKS: BlockRange = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

/**
 * The same function, which announces blocks once it is done: what it wrote is committed then. `getRange` tells them by its
 * first argument.
 */
export function announcing<First, Rest extends unknown[], R>(
  change: (first: First, ...rest: Rest) => Promise<R>,
  announce: (range: BlockRange) => void,
  getRange: (first: First) => BlockRange,
): (first: First, ...rest: Rest) => Promise<R> {
  return async (first, ...rest) => {
    const result = await change(first, ...rest);
    announce(getRange(first));
    return result;
  };
}

function takeTexts(gathered: Map<string, BlockRange[]>): string[] {
  const rows = [...gathered].map(([network, ranges]) => {
    const merged = unionRanges(ranges);
    const [first, last] = [merged[0], merged.at(-1)];
    if (merged.length <= MAX_RANGES || first === undefined || last === undefined)
      return merged.map((range) => [network, range.firstBlock, range.lastBlock]);
    return [[network, first.firstBlock, last.lastBlock]];
  });
  gathered.clear();
  const texts: string[] = [];
  for (let at = 0; at < rows.length; at += MAX_NETWORKS)
    texts.push(JSON.stringify(rows.slice(at, at + MAX_NETWORKS).flat()));
  return texts;
}

function listen(
  connections: Connections,
  { logger, clock }: Context,
  listener: NoticeListener,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await listenOnce(connections, clock, listener, stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        logger.warn(
          { err: error },
          'notices of changes cannot be received; feeds look by themselves until then',
        );
      }
      await clock.sleep(RETRY_MS, stop.signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    close: async () => {
      stop.abort(new Error('it is closed'));
      await running;
    },
  };
}

/** Listens until the connection or its answers fail. */
async function listenOnce(
  connections: Connections,
  clock: Clock,
  listener: NoticeListener,
  signal: AbortSignal,
): Promise<void> {
  const client = await connections.connect();
  const over = new AbortController();
  const end = (): void => over.abort(signal.reason ?? new Error('the connection was lost'));
  client.once('end', end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  client.on('notification', ({ payload }: pg.Notification) => {
    for (const change of parseNotice(payload ?? '')) listener.changed(change);
  });
  try {
    await client.query(limited({ text: `LISTEN ${CHANNEL}` }, ANSWER_MS));
    listener.lost(true);
    for (;;) {
      await clock.sleep(PROBE_EVERY_MS, over.signal);
      await client.query(limited({ text: 'SELECT 1' }, ANSWER_MS));
    }
  } finally {
    signal.removeEventListener('abort', end);
    destroy(client, 'notices are no longer received on it');
    listener.lost(false);
  }
}
