import type { Network, Upstream } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { Agent, WebSocket } from 'undici';
import type { UpstreamNode } from '../calls/node.js';
import { withCredentials } from '../upstream/http.js';
import type { NodeLabel } from '../upstream/label.js';
import type { CallMetrics } from '../upstream/metrics.js';

/** The subscriptions of a pool: open as long as there is a listener. */
interface HeadSubscriptions {
  onHead(listener: (number: number) => void): () => void;
  state(): { delivering: boolean; announced: number | null };
  /** null if the upstream has no WebSocket address. */
  isDelivering(upstream: string): boolean | null;
  close(): Promise<void>;
}

/** Creates the subscriptions of all upstreams with a WebSocket address; none opens before there is a listener. */
export function createHeadSubscriptions(parts: {
  network: Network;
  nodes: readonly UpstreamNode[];
  context: Context;
  metrics: CallMetrics;
  /** How often each is checked; default CHECK_MS. */
  checkMs?: number | undefined;
}): HeadSubscriptions {
  const { nodes, ...shared } = parts;
  const listeners = new Set<(number: number) => void>();
  const open = new Map<string, HeadSubscription>();
  const ending = new Set<Promise<void>>();

  const start = (): void => {
    for (const upstream of parts.network.upstreams) {
      const { ws } = upstream;
      const node = nodes.find((each) => each.name === upstream.name);
      if (ws === undefined || node === undefined) continue;
      const onHead = (number: number): void => {
        for (const listener of [...listeners]) listener(number);
      };
      const subscription = subscribeHeads({
        ...shared,
        upstream: { ...upstream, ws },
        label: node.label,
        onHead,
      });
      open.set(upstream.name, subscription);
    }
  };
  const stop = (): void => {
    for (const subscription of open.values()) {
      const ended = subscription.close();
      ending.add(ended);
      ended.finally(() => ending.delete(ended));
    }
    open.clear();
  };

  return {
    onHead: (listener) => {
      if (listeners.size === 0) start();
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    state: () => {
      // Heads of another chain are ignored.
      const right = nodes
        .filter((node) => node.excluded === null)
        .flatMap((node) => open.get(node.name) ?? []);
      const delivering = right.filter((one) => one.delivering);
      const told = delivering.flatMap((one) => (one.announced === null ? [] : [one.announced]));
      return {
        delivering: delivering.length > 0,
        announced: told.length === 0 ? null : Math.max(...told),
      };
    },
    isDelivering: (name) => {
      const has = parts.network.upstreams.some((each) => each.name === name && each.ws !== undefined);
      return has ? (open.get(name)?.delivering ?? false) : null;
    },
    close: async () => {
      listeners.clear();
      stop();
      await Promise.all(ending);
    },
  };
}

/** A subscription to the new heads of one upstream. An announcement is only a hint: listeners ask for the head. */
interface HeadSubscription {
  /** Whether it is confirmed, answers, and announces every block that the upstream has. */
  readonly delivering: boolean;
  /** The highest block announced since it was opened; null before the first. */
  readonly announced: number | null;
  close(): Promise<void>;
}

/** A header is some 2 kB; a longer message is not one. */
const MAX_MESSAGE_BYTES = 262_144;
const CONNECT_MS = 10_000;
/** How often the upstream is asked for its newest block over the same connection, to check that both are alive. */
const CHECK_MS = 3_000;
const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 30_000;
const SUBSCRIBE_ID = 1;

/**
 * Subscribes to `newHeads`, and again after every loss.
 *
 * ```
 *  connect ──open──▶ eth_subscribe ──id──▶ delivering ──newHeads──▶ onHead
 *     ▲                   │                    │
 *     │                   │refused             │every 3 s eth_blockNumber: no answer by the next time, or a
 *     └── back-off ◀──────┴────────────────────┘unannounced block twice in a row: dead
 * ```
 */
function subscribeHeads(options: {
  upstream: Upstream & { ws: string };
  label: NodeLabel;
  network: Network;
  context: Context;
  metrics: CallMetrics;
  checkMs?: number | undefined;
  onHead: (number: number) => void;
}): HeadSubscription {
  const { checkMs = CHECK_MS, context, label, metrics, network, onHead, upstream } = options;
  const { logger } = context;
  const { headers, url } = withCredentials(upstream.ws, upstream.headers);
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
  });
  const facts = { network: network.id, upstream: upstream.name };
  let delivering = false;
  let announced: number | null = null;
  let closed = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  let endOpen: (() => void) | undefined;
  metrics.subscribed(upstream.name, false);

  const setDelivering = (now: boolean): void => {
    if (now === delivering) return;
    delivering = now;
    metrics.subscribed(upstream.name, now);
    if (now) logger.info(facts, 'subscribed to new heads');
  };

  const again = (why: string): void => {
    if (closed) return;
    if (delivering || failures === 0) {
      logger.warn(
        { ...facts, reason: label.quote(why) },
        'no subscription to new heads: polling until there is one',
      );
    }
    setDelivering(false);
    const backOff = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10));
    failures += 1;
    retry = setTimeout(connect, backOff * (0.5 + Math.random() / 2));
  };

  const connect = (): void => {
    let ended = false;
    let subscription: unknown;
    let newest: number | null = null;
    let missed = 0;
    let checkId = SUBSCRIBE_ID;
    let answered = true;
    const socket = new WebSocket(url.href, { headers, dispatcher: agent });
    const timeout = setTimeout(() => end('it could not be connected to in time'), CONNECT_MS);
    let checks: NodeJS.Timeout | undefined;

    const end = (why: string): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timeout);
      clearInterval(checks);
      endOpen = undefined;
      socket.close();
      again(why);
    };
    endOpen = () => end('it was let go');

    const ask = (id: number, method: string, params: readonly unknown[]): void =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));

    const check = (): void => {
      if (!answered) {
        end('it does not answer any more');
        return;
      }
      answered = false;
      checkId += 1;
      ask(checkId, 'eth_blockNumber', []);
    };

    /** A block may be announced a moment after it is available; one missed at two checks means a dead connection. */
    const checked = (number: number): void => {
      answered = true;
      if (newest === null) newest = number;
      missed = number > newest ? missed + 1 : 0;
      if (missed >= 2) end('it told nothing of new blocks');
    };

    const told = (number: number): void => {
      newest = Math.max(newest ?? 0, number);
      missed = 0;
      announced = Math.max(announced ?? 0, number);
      onHead(number);
    };

    socket.addEventListener('open', () => {
      clearTimeout(timeout);
      ask(SUBSCRIBE_ID, 'eth_subscribe', ['newHeads']);
      checks = setInterval(check, checkMs);
    });
    socket.addEventListener('message', ({ data }: { data: unknown }) => {
      if (ended) return;
      const message = readMessage(data);
      if (message === null) return end('it sent something that is not JSON-RPC');
      if (message.id === SUBSCRIBE_ID && subscription === undefined) {
        if (typeof message.result !== 'string') return end(`it refused: ${JSON.stringify(message.error)}`);
        subscription = message.result;
        failures = 0;
        setDelivering(true);
        check();
      } else if (message.id === checkId) {
        const number = blockNumber(message.result);
        if (number === null) return end('it gave no block number');
        checked(number);
      } else if (message.method === 'eth_subscription' && message.params?.subscription === subscription) {
        const number = blockNumber(message.params?.result?.number);
        if (number === null) return end('it told of a block without a number');
        told(number);
      }
    });
    socket.addEventListener('error', (event: { message?: string; error?: unknown }) => {
      end(event.message || (event.error instanceof Error ? event.error.message : 'the connection failed'));
    });
    socket.addEventListener('close', ({ code }: { code: number }) =>
      end(`it closed the connection (${code})`),
    );
  };

  connect();
  return {
    get delivering() {
      return delivering;
    },
    get announced() {
      return announced;
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      endOpen?.();
      setDelivering(false);
      await agent.destroy().catch(() => undefined);
    },
  };
}

interface Message {
  id?: unknown;
  result?: unknown;
  error?: unknown;
  method?: unknown;
  params?: { subscription?: unknown; result?: { number?: unknown } | null } | null;
}

function readMessage(data: unknown): Message | null {
  if (typeof data !== 'string') return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function blockNumber(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
