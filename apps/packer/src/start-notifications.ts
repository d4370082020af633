import type { Database } from '@packhouse/database';
import { notificationLoop } from '@packhouse/delivery';
import { createRedisLeases } from '@packhouse/node-rpc';
import { createMail, createPost } from '@packhouse/outbound';
import { type Context, createAddressList, PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';
import type { packerSettings } from './settings.js';

type Settings = Pick<
  z.infer<typeof packerSettings>,
  'CONSOLE_URL' | 'HOOK_ALLOWED_ADDRESSES' | 'HOOK_TIMEOUT_MS' | 'REDIS_URL' | 'SMTP_FROM' | 'SMTP_URL'
>;

/** Starts to send notifications. Returns what waits for their end. Throws SETTINGS_INVALID. */
export async function startNotifications({
  context,
  database,
  settings,
}: {
  context: Context;
  database: Database;
  settings: Settings;
}): Promise<() => Promise<void>> {
  const { HOOK_TIMEOUT_MS: timeoutMs, HOOK_ALLOWED_ADDRESSES: allowed = [], REDIS_URL: redisUrl } = settings;
  const redis = redisUrl === undefined ? undefined : createRedisLeases(redisUrl);
  const running = notificationLoop({
    context,
    database,
    leases: redis ?? database.budgets,
    seal: await database.operators.seal(),
    post: createPost({ allowed: createAddressList(allowed), timeoutMs }),
    mail: openMail(settings),
    link: settings.CONSOLE_URL === undefined ? undefined : `${settings.CONSOLE_URL}/#/alarms`,
  });
  return async () => {
    await running;
    await redis?.close();
  };
}

function openMail({ SMTP_URL: url, SMTP_FROM: from, HOOK_TIMEOUT_MS: timeoutMs }: Settings) {
  if (url === undefined) return null;
  if (from !== undefined) return createMail({ url, from, timeoutMs });
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: 'SMTP_URL is set and SMTP_FROM is not.',
    hint: 'Set SMTP_FROM to the sender of e-mails, such as packhouse@example.com.',
  });
}
