import { type Context, parseRedisAddress } from '@packhouse/runtime';
import { Redis } from 'ioredis';

const COMMAND_MS = 2_000;
/** A connection that owes an answer for so long is made anew, in milliseconds. */
const ANSWER_MS = 5_000;
/** How often a connection that only receives is probed. */
const PROBE_EVERY_MS = 10_000;

/** What gets the messages of a channel. */
interface Subscriber {
  received(text: string): void;
  /** Messages may have been lost. `hears`: from now on none is. */
  lost(hears: boolean): void;
}

/**
 * Messages between processes over publish and subscribe of Redis. Nothing is kept: who is not connected does not get
 * them. Connections are made at first use, and again when they are lost.
 */
export function openRedisChannel(url: string, { logger }: Pick<Context, 'logger'>) {
  const options = { commandTimeout: COMMAND_MS, socketTimeout: ANSWER_MS, maxRetriesPerRequest: 1 };
  const clients: Redis[] = [];
  const timers: NodeJS.Timeout[] = [];
  let sender: Redis | undefined;
  const connect = (more: object = {}): Redis => {
    const client = new Redis({ ...parseRedisAddress(url), ...options, ...more });
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };
  return {
    /** Sends a message; fails within seconds while Redis is away. */
    publish: (channel: string, text: string): Promise<unknown> => {
      sender ??= connect();
      return sender.publish(channel, text);
    },
    /** Receives the messages of a channel from now on. */
    subscribe(channel: string, { received, lost }: Subscriber): void {
      // Subscribes again by itself, but that is told only by the answer to its own command.
      const client = connect({ autoResubscribe: false, maxRetriesPerRequest: null });
      client.on('message', (_channel: string, text: string) => received(text));
      client.on('ready', () => {
        client.subscribe(channel).then(
          () => lost(true),
          (error: unknown) => {
            logger.warn({ err: error }, 'messages of Redis cannot be received; it is tried again');
            client.disconnect(true);
          },
        );
      });
      client.on('close', () => lost(false));
      const timer = setInterval(() => {
        if (client.status === 'ready') client.ping().catch(() => client.disconnect(true));
      }, PROBE_EVERY_MS);
      timer.unref();
      timers.push(timer);
    },
    close(): void {
      for (const timer of timers) clearInterval(timer);
      for (const client of clients) client.disconnect();
    },
  };
}
