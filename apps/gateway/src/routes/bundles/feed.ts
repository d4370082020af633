import type { KeyRow } from '@packhouse/database';
import type { Feed, FeedPage } from '@packhouse/feed';
import type { FeedStep } from '@packhouse/manifest';
import { type CallSignal, type Clock, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { requireWithinPlan } from '../../access/admission.js';
import { createInFlight } from '../../access/in-flight.js';
import type { Exchange } from '../../http/exchange.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import { isBelowServer, type ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute, readKind, requireBundles } from '../common/keyed-route.js';
import { COMMON_REFUSALS, keyParams, refusals, text } from '../common/schemas.js';
import { feedParameters, readFeedQuery } from './feed-query.js';

const NDJSON_TYPE = 'application/x-ndjson';
const EVENTS_TYPE = 'text/event-stream';

/** Steps that are read at a time: what an answer holds in memory while its reader is slow. */
const PAGE = 500;

const schema = {
  summary: 'Follow the chain from a cursor',
  description:
    'Steps in block order: files of history, then new blocks, what a reorganisation undid, what became final, repaired files; see docs/feed.md. An answer waits until there is one. With Accept: text/event-stream the same steps as a stream of events.',
  tags: ['bundles'],
  operationId: 'followFeed',
  params: keyParams,
  querystring: feedParameters,
  response: {
    200: {
      description: 'One JSON object per line, each with the cursor behind it. Never empty.',
      content: {
        [NDJSON_TYPE]: { schema: text() },
        [EVENTS_TYPE]: { schema: text('event: <step>, id: <cursor>, data: <the step>') },
      },
    },
    ...refusals(
      ...COMMON_REFUSALS,
      'block-number-invalid',
      'query-invalid',
      'cursor-invalid',
      'cursor-foreign',
      'reorganised',
    ),
  },
};

/** `GET {base_url}<KEY>/bundle-api/feed?kinds=&from=&cursor=&wait=&final=&skip=&limit=` of one network. */
export function feedRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const enter = createInFlight('feeds');
  return keyedRoute(served, '/bundle-api/feed', {
    name: 'feed',
    schema,
    tellsAddress: isBelowServer(served, 'downloadUrl'),
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      requireBundles(network);
      const isStream = acceptsEvents(exchange.request.headers.accept);
      const query = readFeedQuery(network, exchange, isStream);
      const leave = enter(key.id, parts.feedsPerKey);
      const uncount = parts.feeds.count(isStream ? 'stream' : 'poll');
      exchange.whenSent(() => {
        leave();
        uncount();
      });
      const feed = parts.feeds.of(network.id);
      const { final, skipHoles, limit } = query;
      const maxBlock = key.plan.maxBlock;
      const read = (cursor: string, most: number, woken: boolean): Promise<FeedPage> => {
        const options = { final, skipHoles, maxBlock, downloadUrl: served.downloadUrl, woken };
        return feed.read(cursor, { ...options, limit: Math.min(most, PAGE) }).catch(refuse(key));
      };
      const cursor = await getCursor(feed, served, query, key).catch(refuse(key));
      const page = await read(cursor, limit, false);
      exchange.header('cache-control', 'no-store').header('x-accel-buffering', 'no');
      const open: OpenFeed = {
        feed,
        clock: parts.context.clock,
        signal: exchange.signal,
        isDraining: () => parts.phase.draining,
        admit: async () => void (await parts.admission.identify(exchange.param('key'), exchange)),
        read,
      };
      exchange.header('content-type', isStream ? EVENTS_TYPE : NDJSON_TYPE);
      if (exchange.request.method === 'HEAD') exchange.sendNothing();
      else if (isStream) exchange.uncompressed().sendStream(toEvents(open, page, PAGE), true);
      else await sendLines(exchange, open, page, query);
    },
  });
}

/** Sends what is there, or waits for it. An answer that has more than a page is read as its reader goes on. */
async function sendLines(
  exchange: Exchange,
  open: OpenFeed,
  first: FeedPage,
  { waitMs, limit }: { waitMs: number; limit: number },
): Promise<void> {
  const { feed, clock, signal } = open;
  const until = clock.elapsed() + waitMs;
  let page = first;
  while (page.waits && page.steps.length === 1 && !open.isDraining()) {
    const withinMs = until - clock.elapsed();
    if (withinMs <= 0 || !(await feed.changed(page, { withinMs, signal }))) break;
    // The last answer is good while the database is away.
    const next = await open.read(page.cursor, limit, true).catch(ignoreOutage);
    if (next === undefined) await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    page = next ?? page;
  }
  if (signal.aborted) return;
  const lines = toLines(page);
  if (page.waits || page.ends || page.steps.length >= limit) exchange.sendText(lines, NDJSON_TYPE);
  else exchange.sendStream(moreLines(open, page, limit));
}

const RETRY_MS = 1_000;

function ignoreOutage(error: unknown): undefined {
  const cause = error instanceof Problem ? error.cause : error;
  if (error instanceof PackhouseError && error.retryable) return undefined;
  if (isPackhouseError(cause, 'DATABASE_UNAVAILABLE')) return undefined;
  throw error;
}

async function* moreLines(open: OpenFeed, first: FeedPage, limit: number): AsyncGenerator<string> {
  let page = first;
  let left = limit;
  for (;;) {
    yield toLines(page);
    left -= page.steps.length;
    if (page.waits || page.ends || left <= 0) return;
    page = await open.read(page.cursor, left, true);
  }
}

/** The cursor to read from. Throws `cursor-foreign`, `plan-limit`, and what is wrong with its kinds. */
async function getCursor(
  feed: Feed,
  { network }: ServedNetwork,
  { kinds, start }: ReturnType<typeof readFeedQuery>,
  key: KeyRow,
): Promise<string> {
  if ('from' in start) {
    requireWithinPlan(key.plan, start.from);
    return feed.begin(start);
  }
  const known = await feed.inspect(start.cursor);
  if (kinds !== undefined && kinds.join() !== known.kinds.join()) {
    throw new Problem('cursor-foreign', {
      detail: `The cursor is of the kinds ${known.kinds.join(', ')}, and ${kinds.join(', ')} were requested.`,
      members: { kinds: known.kinds },
    });
  }
  for (const kind of known.kinds) readKind(network, kind);
  requireWithinPlan(key.plan, known.next);
  return start.cursor;
}

/** Turns the errors of a feed into refusals. */
function refuse({ plan }: KeyRow): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof PackhouseError)) throw error;
    const { message: detail, data } = error;
    const block = Number(data.block);
    switch (error.code) {
      case 'CURSOR_INVALID':
        throw new Problem('cursor-invalid', { detail });
      case 'CURSOR_FOREIGN':
        throw new Problem('cursor-foreign', { detail });
      case 'CURSOR_REMOVED':
        throw new Problem('reorganised', { detail, members: { block, hash: data.hash } });
      case 'PLAN_LIMIT':
        throw new Problem('plan-limit', {
          detail,
          members: { plan: plan.name, maxBlock: plan.maxBlock, requested: block },
        });
      default:
        throw error;
    }
  };
}

/** Whether a client wants events: EventSource sends exactly this; a client that takes anything wants lines. */
function acceptsEvents(accept: string | undefined): boolean {
  return accept?.split(',').some((each) => each.split(';')[0]?.trim().toLowerCase() === EVENTS_TYPE) === true;
}

/** One request for a feed. */
interface OpenFeed {
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

/** Those who wait at one place get the same page. */
const known = new WeakMap<FeedPage, string>();

/** One step per line. */
function toLines(page: FeedPage): string {
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
async function* toEvents(open: OpenFeed, first: FeedPage, limit: number): AsyncGenerator<string> {
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
