import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { acceptWebSocket, type WebSocketEnd } from './accept-web-socket.js';
import { toQuantity } from './hex.js';
import { type NodeState, visibleBlock } from './node-state.js';
import { readValue } from './served-chain.js';

/** Tells of new heads over WebSocket: eth_subscribe, eth_unsubscribe, eth_blockNumber and eth_chainId. */
export interface HeadFeed {
  /** Connections that have subscribed. */
  readonly subscribers: number;
  /** Tells all subscribers of the head as it is now. */
  tell(): void;
  /** Says nothing of its own accord any more, or again; answers go on. */
  mute(muted: boolean): void;
  /** Neither tells nor answers any more, or again: a line that is dead without being closed. */
  freeze(frozen: boolean): void;
  /** Ends all connections; `refuse` keeps new ones from being made. */
  drop(refuse?: boolean): void;
}

interface Subscriber {
  end: WebSocketEnd;
  subscriptions: Set<string>;
}

/** Lets a server be asked over WebSocket as well. */
export function createHeadFeed(server: Server, state: NodeState): HeadFeed {
  const subscribers = new Set<Subscriber>();
  let muted = false;
  let frozen = false;
  let refusing = false;
  let nextId = 1;

  const answer = (subscriber: Subscriber, method: unknown, params: readonly unknown[]): unknown => {
    if (method === 'eth_blockNumber') return toQuantity(state.head);
    if (method === 'eth_chainId') return toQuantity(state.chainId);
    if (method === 'eth_unsubscribe') return subscriber.subscriptions.delete(String(params[0]));
    if (method !== 'eth_subscribe' || params[0] !== 'newHeads') return undefined;
    const id = toQuantity(nextId++);
    subscriber.subscriptions.add(id);
    return id;
  };

  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (refusing) return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const end = acceptWebSocket(request, socket, {
      hear: (text) => {
        if (frozen) return;
        const {
          id,
          method,
          params = [],
        } = JSON.parse(text) as Record<string, unknown> & { params?: unknown[] };
        const result = answer(subscriber, method, params);
        const error = {
          code: -32601,
          message: `the method ${String(method)} does not exist/is not available`,
        };
        end.send(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
      },
      closed: () => subscribers.delete(subscriber),
    });
    const subscriber: Subscriber = { end, subscriptions: new Set() };
    subscribers.add(subscriber);
  });

  return {
    get subscribers() {
      return [...subscribers].filter(({ subscriptions }) => subscriptions.size > 0).length;
    },
    tell() {
      const block = visibleBlock(state, state.head);
      if (muted || frozen || block === undefined) return;
      const { transactions: _, ...result } = readValue(block, 'block') as Record<string, unknown>;
      for (const { end, subscriptions } of subscribers) {
        for (const subscription of subscriptions) {
          const params = { subscription, result };
          end.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
        }
      }
    },
    mute(now) {
      muted = now;
    },
    freeze(now) {
      frozen = now;
    },
    drop(refuse = false) {
      refusing = refuse;
      for (const { end } of subscribers) end.destroy();
    },
  };
}
