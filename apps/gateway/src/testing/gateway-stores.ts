import { redisInstalled, startRedis } from '@packhouse/local';
import { createLogger } from '@packhouse/runtime';
import { vi } from 'vitest';
import { connectRedis } from '../access/connect-redis.js';
import { createSharedAnswers } from '../cache/answer-cache.js';
import { createRedisFilterStore } from '../filters/create-redis-filter-store.js';
import type { GatewayOptions } from '../gateway-options.js';
import { createRedisTips } from '../networks/redis-tips.js';

/** A store that gateways share. */
export interface GatewayStore {
  /** Opens separate connections for one more gateway. */
  options(): Promise<Pick<GatewayOptions, 'filters' | 'sharedAnswers' | 'tips'>>;
  close(): Promise<void>;
}

const logger = createLogger({ name: 'test', level: 'silent' });

async function openRedis(): Promise<GatewayStore> {
  const server = await startRedis();
  const clients: ReturnType<typeof connectRedis>[] = [];
  return {
    async options() {
      const redis = connectRedis(server.url, { logger });
      clients.push(redis);
      await vi.waitUntil(() => redis.status === 'ready', { timeout: 60_000 });
      return {
        filters: createRedisFilterStore(redis),
        sharedAnswers: createSharedAnswers(redis),
        tips: createRedisTips(redis),
      };
    },
    async close() {
      for (const client of clients) client.disconnect();
      await server.stop();
    },
  };
}

/** The two stores by name; `able`: the server that it needs is installed. */
export const GATEWAY_STORES: { name: string; able: boolean; open(): Promise<GatewayStore> }[] = [
  {
    name: 'Postgres',
    able: true,
    open: async () => ({ options: async () => ({}), close: async () => undefined }),
  },
  { name: 'Redis (needs redis-server)', able: redisInstalled(), open: openRedis },
];
