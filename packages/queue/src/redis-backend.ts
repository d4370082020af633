import { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { type Backend, type BackendOptions, queueUnavailable, toAddress } from './backend.js';
import { bullConsumer, bullProducer } from './bull.js';

const CONNECT_MS = 5_000;
/** For the next answer, also of a worker's waiting command, which Redis ends after ten seconds; then it connects again. */
const ANSWER_MS = 20_000;
/** A connection on which nothing is asked is probed after so long. */
const KEEP_ALIVE_MS = 10_000;
const retryStrategy = (tries: number): number => Math.min(100 * 2 ** Math.min(tries, 5), 2_000);

/** Stores jobs in Redis 6.2 or later. Throws QUEUE_UNAVAILABLE if the server does not answer now. */
export async function openRedisBackend(url: string, options: BackendOptions): Promise<Backend> {
  const address = toAddress(url);
  await probe(url, address);
  const clients = new Set<Redis>();
  const watch = (client: Redis): Redis => {
    client.on('error', options.onError);
    clients.add(client);
    return client;
  };
  const end = (client: Redis): void => {
    client.disconnect();
    clients.delete(client);
  };
  const connect = (maxRetriesPerRequest: number | null): Redis =>
    watch(
      new Redis(url, {
        connectTimeout: CONNECT_MS,
        socketTimeout: ANSWER_MS,
        keepAlive: KEEP_ALIVE_MS,
        retryStrategy,
        maxRetriesPerRequest,
      }),
    );
  // A producer that cannot write fails within seconds; a worker waits for the server without a limit.
  const producing = connect(3);
  const producerOptions = { ...options, abandon: () => end(producing) };

  return {
    address,
    producer: (queue) =>
      bullProducer({
        connection: producing,
        factory: createRedisBackend,
        name: queue,
        options: producerOptions,
      }),
    consumer: async (queue, concurrency, events) => {
      const connection = connect(null);
      const own = [connection];
      // BullMQ blocks on a copy of the connection; it must be known to end it while Redis is unreachable.
      const duplicate = connection.duplicate.bind(connection);
      connection.duplicate = (override) => {
        const copy = watch(duplicate(override));
        own.push(copy);
        return copy;
      };
      const abandon = (): void => own.forEach(end);
      try {
        const parts = {
          connection,
          factory: createRedisBackend,
          name: queue,
          options: { ...options, abandon },
        };
        const consumer = await bullConsumer(parts, concurrency, events);
        return {
          close: async () => {
            await consumer.close();
            abandon();
          },
        };
      } catch (error) {
        abandon();
        throw error;
      }
    },
    close: async () => {
      clients.forEach(end);
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
