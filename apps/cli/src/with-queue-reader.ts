import { createQueueReader, type QueueReader } from '@packhouse/queue';
import { loadSettings, redisUrlSetting } from '@packhouse/runtime';
import { z } from 'zod';
import { commandContext, databaseUrl } from './connect.js';
import type { CliIo } from './io.js';

const queueSettings = z.object({ REDIS_URL: redisUrlSetting('where the queues are; without it Postgres') });

/** A look is worth so much waiting, in milliseconds. */
const TIMEOUT_MS = 3_000;

/** Runs `use` with a look at the queues, which connects at the first look, and closes it. Throws SETTINGS_INVALID. */
export async function withQueueReader<T>(
  io: CliIo,
  options: { dataDir?: string },
  use: (queue: QueueReader) => Promise<T>,
): Promise<T> {
  const queue = createQueueReader({
    context: commandContext(io),
    redisUrl: loadSettings(queueSettings, io.env).REDIS_URL,
    databaseUrl: databaseUrl(io, options.dataDir),
    timeoutMs: TIMEOUT_MS,
  });
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}
