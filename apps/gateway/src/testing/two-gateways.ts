import { parseNetworks } from '@packhouse/networks';
import { createMetrics } from '@packhouse/runtime';
import { createGateway } from '../create-gateway.js';
import type { FilterStore } from '../filters/filter-state.js';
import type { GatewayOptions } from '../gateway-options.js';
import { ask } from './ask.js';
import type { GatewayStore } from './gateway-stores.js';
import { startTestGateway, type TestGateway } from './test-gateway.js';

/** Two gateways that share a database and a store of filters. */
export interface TwoGateways {
  at: TestGateway;
  urls: readonly [string, string];
  /** The key of these tests. */
  key: string;
  /** The store of the first gateway. */
  filters: FilterStore;
  /** Calls the first gateway or the second, with the key of these tests or another. */
  call<T>(gateway: 0 | 1, method: string, params?: unknown[], as?: string): Promise<T>;
  /** The head of each upstream by name, as the first gateway or the second knows it. */
  heads(gateway: 0 | 1): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** Starts both; the texts are networks files with one network, `main`. */
export async function startTwoGateways(
  texts: readonly [string, string],
  store: GatewayStore,
  options: Partial<GatewayOptions> = {},
): Promise<TwoGateways> {
  const [networks, theirs] = texts.map((text) => parseNetworks(text, { source: 'test', env: {} }));
  if (networks === undefined || theirs === undefined) throw new Error('unreachable');
  const shared = await store.options();
  const at = await startTestGateway({ networks, ...shared, ...options });
  const { context, database, objectStore } = at;
  const second = await createGateway({
    ...{ context: { ...context, metrics: createMetrics() }, database, objectStore, networks: theirs },
    publicMetrics: true,
    ...(await store.options()),
    ...options,
  });
  const urls = [at.url, `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`] as const;
  const { key } = await at.makeKey();
  return {
    at,
    urls,
    key,
    filters: shared.filters ?? database.filters,
    async call<T>(gateway: 0 | 1, method: string, params: unknown[] = [], as = key) {
      const answer = await ask(urls[gateway], `/main/v1/${as}`, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        headers: { 'content-type': 'application/json' },
      });
      const { result, error } = answer.json() as { result: T; error?: { code: number; message: string } };
      if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
      return result;
    },
    async heads(gateway) {
      const headers = { authorization: `Bearer ${key}` };
      const { text } = await ask(urls[gateway], '/metrics', { headers });
      const lines = text.matchAll(/packhouse_upstream_head_block\{.*upstream="(\w+)"\} (\d+)/g);
      return Object.fromEntries([...lines].map(([, name, head]) => [name, Number(head)]));
    },
    async close() {
      await second.close();
      await at.close();
    },
  };
}
