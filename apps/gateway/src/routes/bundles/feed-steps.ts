import type { Feed, FeedPage } from '@packhouse/feed';
import type { FeedStep } from '@packhouse/manifest';
import { type CallSignal, type Clock, isPackhouseError } from '@packhouse/runtime';

/** One request for a feed. */
export interface OpenFeed {
  feed: Feed;
  clock: Clock;
  /** Aborted when the client is gone. */
  signal: CallSignal;
  isDraining(): boolean;
  /** Throws if the key is no longer valid. */
  admit(): Promise<void>;
  read(cursor: string, limit: number, woken: boolean): Promise<FeedPage>;
}

/** Without a step for so long, a comment keeps the connection open, in milliseconds. */
const HEARTBEAT_MS = 15_000;
/** A stream ends after this long; its client connects again, and proxies and networks that changed do not keep it. */
const MAX_STREAM_MS = 3_600_000;
const RETRY_MS = 1_000;

/** Those who wait at one place get the same page. */
const known = new WeakMap<FeedPage, string>();

/** One step per line. */
export function toLines(page: FeedPage): string {
  const before = known.get(page);
  if (before !== undefined) return before;
  let text = '';
  for (const step of page.steps) text += `${JSON.stringify(step)}\n`;
  known.set(page, text);
  return text;
}

/**
 * Steps as server-sent events, until the client leaves, the key ends, or the gateway drains. A `waiting` step is sent
 * when it says something new. Where the plan ends, so does the stream, and its client is refused when it comes again. While the database is away, the stream stays open.
 */
export async function* toEvents(open: OpenFeed, first: FeedPage, limit: number): AsyncGenerator<string> {
  const { feed, clock, signal } = open;
  const until = clock.elapsed() + MAX_STREAM_MS;
  let said = '';
  let page: FeedPage = first;
  for (;;) {
    let text = '';
    for (const step of page.steps) {
      const says = step.step === 'waiting' ? `${step.block} ${step.reason} ${step.kinds.join()}` : '';
      if (says === '' || says !== said) text += toEvent(step);
      said = says;
    }
    if (text !== '') yield text;
    if (page.ends) return;
    const changed = page.waits ? await feed.changed(page, { withinMs: HEARTBEAT_MS, signal }) : true;
    if (open.isDraining() || signal.aborted || clock.elapsed() > until) return;
    await open.admit();
    if (!changed) yield ':\n\n';
    try {
      page = await open.read(page.cursor, limit, changed);
    } catch (error) {
      if (!isPackhouseError(error, 'DATABASE_UNAVAILABLE')) throw error;
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      page = { ...page, steps: [] };
    }
  }
}

function toEvent(step: FeedStep): string {
  return `event: ${step.step}\nid: ${step.cursor}\ndata: ${JSON.stringify(step)}\n\n`;
}
