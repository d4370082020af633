import {
  findRedisFault,
  isRedisReplica,
  PackhouseError,
  parseRedisAddress,
  type RedisTarget,
} from '@packhouse/runtime';
import { createRedisBackend } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { type Backend, type BackendOptions, queueUnavailable, toAddress } from './backend.js';
import { bullConsumer, bullProducer } from './bull.js';

const CONNECT_MS = 5_000;
/** For the next answer, also of a worker's waiting command, which Redis ends after ten seconds; then it connects again. */
const ANSWER_MS = 20_000;
/** A connection on which nothing is asked is probed after so long. */
const KEEP_ALIVE_MS = 10_000;
const retryStrategy = (tries: number): number => Math.min(100 * 2 ** Math.min(tries, 5), 2_000);

/**
 * Stores jobs in Redis 6.2 or later, one server or a master that Sentinels name. Throws QUEUE_UNAVAILABLE if it does not
 * answer now or takes no writes, QUEUE_UNSUPPORTED if it would lose jobs.
 */
export async function openRedisBackend(url: string, options: BackendOptions): Promise<Backend> {
  const address = toAddress(url);
  const target = parseRedisAddress(url);
  await probe(target, address);
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
  const connect = (more: Pick<RedisOptions, 'maxRetriesPerRequest' | 'commandTimeout'>): Redis =>
    watch(
      new Redis({
        ...target,
        connectTimeout: CONNECT_MS,
        socketTimeout: ANSWER_MS,
        keepAlive: KEEP_ALIVE_MS,
        retryStrategy,
        ...more,
      }),
    );
  // A producer that cannot write fails within seconds, also while no Sentinel answers; a worker waits without a limit.
  const producing = connect({ maxRetriesPerRequest: 3, commandTimeout: ANSWER_MS });
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
      const connection = connect({ maxRetriesPerRequest: null });
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

async function probe(target: RedisTarget, address: string): Promise<void> {
  let reason: Error | undefined;
  const client = new Redis({
    ...target,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', (error: Error) => {
    reason = error;
  });
  let info: string;
  try {
    await client.connect();
    info = await client.info();
  } catch (error) {
    throw queueUnavailable('Redis', address, reason ?? error);
  } finally {
    client.disconnect();
  }
  if (isRedisReplica(info))
    throw queueUnavailable('Redis', address, new Error('it is a replica, which takes no writes'));
  const fault = findRedisFault(info);
  if (fault !== undefined)
    throw new PackhouseError({
      code: 'QUEUE_UNSUPPORTED',
      message: `The queue on Redis at ${address} cannot be used: ${fault.message}.`,
      hint: fault.hint,
      data: { address },
    });
}
