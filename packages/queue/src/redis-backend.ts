import { createRedisBackend } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Backend, BackendOptions } from './backend.js';
import { bullConsumer, bullProducer } from './bull.js';
import { addressOf, queueUnavailable } from './queue-unavailable.js';

const CONNECT_MS = 5_000;
const retryStrategy = (tries: number): number => Math.min(100 * 2 ** Math.min(tries, 5), 2_000);

/** Jobs in Redis 6.2 or later. Throws QUEUE_UNAVAILABLE when the server does not answer now. */
export async function openRedisBackend(url: string, options: BackendOptions): Promise<Backend> {
  const address = addressOf(url);
  await probe(url, address);
  const connect = (more: RedisOptions): Redis => {
    const client = new Redis(url, { connectTimeout: CONNECT_MS, retryStrategy, ...more });
    client.on('error', options.onError);
    return client;
  };
  // A producer that cannot write says so within seconds; a worker waits for the server as long as it takes.
  const producing = connect({ maxRetriesPerRequest: 3 });
  const consuming: Redis[] = [];

  return {
    address,
    producer: (queue) =>
      bullProducer({ connection: producing, factory: createRedisBackend, name: queue, options }),
    consumer: async (queue, concurrency, events) => {
      const connection = connect({ maxRetriesPerRequest: null });
      consuming.push(connection);
      const consumer = await bullConsumer(
        { connection, factory: createRedisBackend, name: queue, options },
        concurrency,
        events,
      );
      return {
        close: async () => {
          await consumer.close();
          connection.disconnect();
        },
      };
    },
    close: async () => {
      for (const client of [producing, ...consuming]) client.disconnect();
    },
  };
}

async function probe(url: string, address: string): Promise<void> {
  let reason: Error | undefined;
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', (error: Error) => {
    reason = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    throw queueUnavailable('Redis', address, reason ?? error);
  } finally {
    client.disconnect();
  }
}
