import type { Kind } from '@packhouse/chain';
import type { Database, HookWork, PendingDelivery } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { CallSignal, Context } from '@packhouse/runtime';
import { chooseSteps } from './choose-steps.js';
import type { LogMatcher } from './match-logs.js';
import type { createSender } from './send.js';

/** The feed of a network, as hooks read it: see feed/create-feed.ts. */
interface HookFeed {
  begin(request: { kinds: readonly Kind[]; from: number }): Promise<string>;
  read(
    cursor: string,
    options: {
      final: 'only' | 'all';
      skipHoles: boolean;
      limit: number;
      maxBlock: number | null;
      downloadUrl: string;
    },
  ): Promise<HookPage>;
  /** Resolves to true when something changed behind a page. */
  changed(page: HookPage, options: { withinMs: number; signal?: CallSignal }): Promise<boolean>;
}

interface HookPage {
  steps: FeedStep[];
  /** Behind the last step. */
  cursor: string;
  /** Whether nothing more is there now. */
  waits: boolean;
  place: { serial: number; block: number };
}

/** What hooks of one network need. */
export interface HookNetwork {
  feed: HookFeed;
  matcher: LogMatcher;
  /** Of its files: links of steps begin with it. */
  downloadUrl: string;
}

/** A delivery to send; `waits`: nothing more was there behind it. */
interface Begun {
  pending: PendingDelivery;
  waits: boolean;
}

/** Steps that are read at once. */
const PAGE_STEPS = 200;
/** How long a woken hook whose feed has nothing new waits for this process to hear of the change. */
const HEAR_MS = 250;

/**
 * Creates what begins the next delivery of a hook: stores it, before it is sent. Null: there is none now, the time is
 * up, or the hook changed meanwhile. Throws errors of the database and the feed.
 */
export function createDeliveryBegin(parts: {
  context: Pick<Context, 'clock'>;
  deliveries: Pick<Database['hookDeliveries'], 'begin' | 'move'>;
  toMessage: ReturnType<typeof createSender>['toMessage'];
}) {
  const { context, deliveries, toMessage } = parts;
  return async (
    hook: HookWork,
    { feed, matcher, downloadUrl }: HookNetwork,
    /** `until`: by `elapsed` of the clock. */
    { signal, until }: { signal: AbortSignal; until: number },
  ): Promise<Begun | null> => {
    const final = hook.finalOnly ? 'only' : 'all';
    const options = { final, skipHoles: false, limit: PAGE_STEPS, maxBlock: null, downloadUrl } as const;
    let stored = hook;
    let cursor = hook.cursor ?? (await feed.begin({ kinds: hook.kinds, from: hook.from }));
    for (let heard = false; !signal.aborted && context.clock.elapsed() < until; ) {
      const page = await feed.read(cursor, options);
      const isNew = page.steps.some(({ step }) => step !== 'waiting');
      if (page.waits && !isNew && !heard) {
        // The job may be quicker than the notice that it was made for.
        heard = true;
        if (await feed.changed(page, { withinMs: HEAR_MS, signal })) continue;
      }
      const chosen = await chooseSteps(page.steps, { ...stored, cursor }, matcher);
      const waits = page.waits && chosen.all;
      const place = chosen.all ? { ...chosen.place, cursor: page.cursor } : chosen.place;
      if (chosen.steps.length > 0) {
        const pending = { ...place, ...toMessage(hook, 'feed.steps', chosen.steps) };
        return (await deliveries.begin(stored, pending)) ? { pending, waits } : null;
      }
      if (!(await deliveries.move(stored, place, waits)) || waits) return null;
      stored = { ...stored, ...place };
      cursor = page.cursor;
    }
    return null;
  };
}
