import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { EnvHttpProxyAgent, WebSocket } from 'undici';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import { withCredentials } from '../upstream/http.js';

interface SubscriptionParts {
  network: Network;
  nodes: readonly BatchUpstream[];
  context: Context;
  /** How often each is checked; default CHECK_MS. */
  checkMs?: number | undefined;
}

/** Creates the subscriptions of all upstreams with a WebSocket address: open as long as there is a listener. */
export function createHeadSubscriptions(parts: SubscriptionParts) {
  const { network, nodes } = parts;
  const listeners = new Set<(number: number) => void>();
  const open = new Map<string, HeadSubscription>();
  const ending = new Set<Promise<void>>();

  const start = (): void => {
    const onHead = (number: number): void => {
      for (const listener of [...listeners]) listener(number);
    };
    for (const { name, ws, headers } of network.upstreams) {
      const node = nodes.find((each) => each.name === name);
      if (ws === undefined || node === undefined) continue;
      open.set(name, subscribeHeads(node, withCredentials(ws, headers), parts, onHead));
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
    onHead: (listener: (number: number) => void): (() => void) => {
      if (listeners.size === 0) start();
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    state: (): { delivering: boolean; announced: number | null } => {
      // Heads of another chain are ignored.
      const right = nodes.filter((node) => !node.excluded).flatMap((node) => open.get(node.name) ?? []);
      const delivering = right.filter((one) => one.delivering);
      const numbers = delivering.flatMap((one) => (one.announced === null ? [] : [one.announced]));
      return {
        delivering: delivering.length > 0,
        announced: numbers.length === 0 ? null : Math.max(...numbers),
      };
    },
    /** null if the upstream has no WebSocket address. */
    isDelivering: (name: string): boolean | null => {
      const has = network.upstreams.some((each) => each.name === name && each.ws !== undefined);
      return has ? (open.get(name)?.delivering ?? false) : null;
    },
    close: async (): Promise<void> => {
      listeners.clear();
      stop();
      await Promise.all(ending);
    },
  };
}

/** A subscription to the new heads of one upstream. An announcement is only a hint: listeners ask for the head. */
type HeadSubscription = ReturnType<typeof subscribeHeads>;

/** A header is some 2 kB; a longer message is not one. */
const MAX_MESSAGE_BYTES = 262_144;
const CONNECT_MS = 10_000;
/** How often the upstream is asked for its newest block over the same connection, to check that both are alive. */
const CHECK_MS = 3_000;
const INITIAL_BACK_OFF_MS = 500;
const MAX_BACK_OFF_MS = 30_000;
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
function subscribeHeads(
  { label, metrics, name }: BatchUpstream,
  { headers, url }: ReturnType<typeof withCredentials>,
  { checkMs = CHECK_MS, context, network }: SubscriptionParts,
  onHead: (number: number) => void,
) {
  const { logger } = context;
  const agent = new EnvHttpProxyAgent({
    connect: { timeout: CONNECT_MS },
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
  });
  const facts = { network: network.id, upstream: name };
  let closed = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  let connection: { close(): void } | undefined;
  metrics.subscribed(false);

  const setDelivering = (now: boolean): void => {
    if (now === self.delivering) return;
    self.delivering = now;
    metrics.subscribed(now);
    if (now) logger.info(facts, 'subscribed to new heads');
  };

  const retryLater = (why: string): void => {
    if (closed) return;
    if (self.delivering || failures === 0) {
      logger.warn({ ...facts, reason: label.quote(why) }, 'subscription to new heads failed: polling');
    }
    setDelivering(false);
    const backOff = Math.min(MAX_BACK_OFF_MS, INITIAL_BACK_OFF_MS * 2 ** Math.min(failures, 10));
    failures += 1;
    retry = setTimeout(connect, backOff * (0.5 + Math.random() / 2));
  };

  const connect = (): void => {
    const socket = new WebSocket(url.href, { headers, dispatcher: agent });
    connection = watchConnection(socket, checkMs, {
      onSubscribed: () => {
        failures = 0;
        setDelivering(true);
      },
      onHead: (number) => {
        self.announced = Math.max(self.announced ?? 0, number);
        onHead(number);
      },
      onEnd: (reason) => {
        connection = undefined;
        retryLater(reason);
      },
    });
  };

  const self = {
    /** Whether it is confirmed, answers, and announces every block that the upstream has. */
    delivering: false,
    /** The highest block announced since it was opened; null before the first. */
    announced: null as number | null,
    close: async (): Promise<void> => {
      closed = true;
      clearTimeout(retry);
      connection?.close();
      setDelivering(false);
      await agent.destroy().catch(() => undefined);
    },
  };
  connect();
  return self;
}

/** One connection: subscribes, and checks that it is alive. `onEnd` is called once, with a clause about the upstream. */
function watchConnection(
  socket: WebSocket,
  checkMs: number,
  on: { onSubscribed(): void; onHead(number: number): void; onEnd(reason: string): void },
): { close(): void } {
  let ended = false;
  let subscription: unknown;
  let newest: number | null = null;
  let missed = 0;
  let checkId = SUBSCRIBE_ID;
  let answered = true;
  const timeout = setTimeout(() => end('it could not be connected to in time'), CONNECT_MS);
  let checks: NodeJS.Timeout | undefined;

  const end = (reason: string): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timeout);
    clearInterval(checks);
    socket.close();
    on.onEnd(reason);
  };

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
    if (missed >= 2) end('it did not announce new blocks');
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
      on.onSubscribed();
      check();
    } else if (message.id === checkId && !answered) {
      const number = blockNumber(message.result);
      if (number === null) return end('it gave no block number');
      checked(number);
    } else if (message.method === 'eth_subscription' && message.params?.subscription === subscription) {
      const number = blockNumber(message.params?.result?.number);
      if (number === null) return end('it announced a block without a number');
      newest = Math.max(newest ?? 0, number);
      missed = 0;
      on.onHead(number);
    } else if (message.id != null) end('it answered what it was not asked');
  });
  socket.addEventListener('error', (event: { message?: string; error?: unknown }) => {
    end(event.message || (event.error instanceof Error ? event.error.message : 'the connection failed'));
  });
  socket.addEventListener('close', ({ code }: { code: number }) => end(`it closed the connection (${code})`));
  return { close: () => end('it was closed') };
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
