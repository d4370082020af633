import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import type { NodeMetrics } from './node-metrics.js';
import { type HeadSubscription, subscribeHeads } from './subscribe-heads.js';
import type { UpstreamNode } from './upstream-node.js';

/** The subscriptions of a pool: open as long as somebody listens. */
export interface HeadSubscriptions {
  onHead(listener: (number: number) => void): () => void;
  state(): { delivering: boolean; announced: number | null };
  /** null where the upstream has no WebSocket address. */
  isDelivering(upstream: string): boolean | null;
  close(): Promise<void>;
}

/** Makes the subscriptions of all upstreams that have a WebSocket address; none is opened before there is a listener. */
export function createHeadSubscriptions(parts: {
  network: Network;
  nodes: readonly UpstreamNode[];
  context: Context;
  metrics: NodeMetrics;
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
      // What a node of another chain tells is no news here.
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
