import { openRedisChannel } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';

/** The channel of Redis that has the notices of changes. */
export const NOTICES = 'packhouse:changes';

/** Sends notices over Redis; undefined without it: the database sends them with NOTIFY. */
export function createNoticeSender(
  context: Pick<Context, 'logger'>,
  redisUrl: string | undefined,
): { send: (text: string) => Promise<unknown>; close(): void } | undefined {
  if (redisUrl === undefined) return undefined;
  const channel = openRedisChannel(redisUrl, context);
  return { send: (text) => channel.publish(NOTICES, text), close: channel.close };
}
