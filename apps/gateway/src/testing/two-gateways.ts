import { parseNetworks } from '@packhouse/networks';
import type { SharedTips } from '@packhouse/node-rpc';
import { createMetrics } from '@packhouse/runtime';
import { createGateway } from '../create-gateway.js';
import type { GatewayOptions } from '../gateway-options.js';
import { ask, callRpc } from './ask.js';
import type { GatewayStore } from './gateway-stores.js';
import { startTestGateway } from './test-gateway.js';

/** Two gateways that share a database and a store of filters. */
export type TwoGateways = Awaited<ReturnType<typeof startTwoGateways>>;

/**
 * Starts both; the texts are networks files with one network, `main`. `patient`: however slow the machine is, they do not
 * take the store of the newest blocks for one that is away.
 */
export async function startTwoGateways(
  texts: readonly [string, string],
  store: GatewayStore,
  { patient = false, ...options }: Partial<GatewayOptions> & { patient?: boolean } = {},
) {
  const [networks, theirs] = texts.map((text) => parseNetworks(text, { source: 'test', env: {} }));
  if (networks === undefined || theirs === undefined) throw new Error('unreachable');
  const shared = await store.options();
  let setTips: (tips: SharedTips) => void = () => undefined;
  const first = new Promise<SharedTips>((resolve) => {
    setTips = resolve;
  });
  const at = await startTestGateway({
    networks,
    ...shared,
    ...(patient ? { tips: waitFor(first) } : {}),
    ...options,
  });
  const { context, database, objectStore } = at;
  setTips(shared.tips ?? database.tips);
  const own = await store.options();
  const second = await createGateway({
    context: { ...context, metrics: createMetrics() },
    database,
    objectStore,
    networks: theirs,
    publicMetrics: true,
    ...own,
    ...(patient ? { tips: waitFor(Promise.resolve(own.tips ?? database.tips)) } : {}),
    ...options,
  });
  const urls = [at.url, `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`] as const;
  const { key } = await at.makeKey();
  return {
    at,
    urls,
    /** The key of these tests. */
    key,
    /** The store of the first gateway. */
    filters: shared.filters ?? database.filters,
    /** Calls the first gateway or the second, with the key of these tests or another. */
    async call<T>(gateway: 0 | 1, method: string, params: unknown[] = [], as = key): Promise<T> {
      const answer = await callRpc(urls[gateway], `/main/v1/${as}`, method, params);
      const { result, error } = answer.json() as { result: T; error?: { code: number; message: string } };
      if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
      return result;
    },
    /** The head of each upstream by name, as the first gateway or the second knows it. */
    async heads(gateway: 0 | 1): Promise<Record<string, number>> {
      const headers = { authorization: `Bearer ${key}` };
      const { text } = await ask(urls[gateway], '/metrics', { headers });
      const lines = text.matchAll(/packhouse_upstream_head_block\{.*upstream="(\w+)"\} (\d+)/g);
      return Object.fromEntries([...lines].map(([, name, head]) => [name, Number(head)]));
    },
    async close(): Promise<void> {
      await second.close();
      await at.close();
    },
  };
}

/** A store of the newest blocks that a gateway waits for. */
function waitFor(tips: Promise<SharedTips>): SharedTips {
  return {
    raise: async (...args) => (await tips).raise(...args),
    lower: async (...args) => (await tips).lower?.(...args),
    read: async (...args) => (await tips).read(...args),
    announce: async (...args) => (await tips).announce?.(...args),
    readEpoch: async (...args) => (await (await tips).readEpoch?.(...args)) ?? 0,
    raiseEpoch: async (...args) => (await (await tips).raiseEpoch?.(...args)) ?? 0,
    waitMs: 60_000,
  };
}
