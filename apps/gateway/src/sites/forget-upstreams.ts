import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';

/** Gauges of upstreams that are gone would say for ever how they stood last. */
export function forgetUpstreams(context: Context, network: Network, others: readonly Network[]): void {
  const kept = others.filter(({ id }) => id === network.id).flatMap(({ upstreams }) => upstreams);
  for (const { name } of network.upstreams) {
    if (kept.some((upstream) => upstream.name === name)) continue;
    for (const gauge of ['packhouse_upstream_healthy', 'packhouse_upstream_head_block']) {
      const known = context.metrics.gauge(gauge, 'How an upstream stands.', ['network', 'upstream']);
      known.remove({ network: network.id, upstream: name });
    }
  }
}
