import { runSql } from '@packhouse/local';
import { addHook, addNotification, type OperationParts } from '@packhouse/operations';

/** Webhooks and channels of notifications: good ones, one that fails, one that is paused. */
export async function addReceivers(parts: OperationParts, databaseUrl: string): Promise<void> {
  const { database } = parts;
  const all = { finalOnly: false, addresses: [], topics: [] };
  const usdt = { finalOnly: true, addresses: ['0xdac17f958d2ee523a2206206994597c13d831ec7'], topics: [] };
  const hooks = [
    ['https://receiver.shop.example/blocks', 'ethereum', ['blocks', 'logs'], all],
    ['https://hooks.analytics.example/usdt', 'ethereum', ['logs'], usdt],
    ['https://10.0.0.8/base', 'base', ['receipts'], all],
  ] as const;
  for (const [url, network, kinds, rest] of hooks) {
    await addHook.run(parts, { url, network, kinds: [...kinds], ...rest });
  }
  const told = { networks: [], names: [], recipients: [], quiet: [], severity: 'warning' } as const;
  const quiet = ['Mon-Fri 22:00-07:00 Europe/Berlin', 'Sat,Sun 00:00-24:00 Europe/Berlin'];
  const channels = [
    { ...told, kind: 'email', recipients: ['on-call@example.com', 'ada@example.com'], severity: 'critical' },
    { ...told, kind: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x', quiet },
    { ...told, kind: 'webhook', url: 'https://pager.example/in', networks: ['ethereum', 'base'] },
  ] as const;
  for (const { recipients, networks, names, quiet: windows, ...channel } of channels) {
    const lists = { recipients: [...recipients], networks: [...networks], names: [...names] };
    await addNotification.run(parts, { ...channel, ...lists, quiet: [...windows] });
  }
  await database.hooks.setState(3, 'paused', 'ada');
  await database.hookDeliveries.noteTest(1, 'Accepted in 41 ms.');
  await database.channelMessages.noteTest(2, 'Accepted.');
  const failing = `failing_since = now() - interval '47 minutes', failures = 9, due_at = now() + interval '12 minutes'`;
  await runSql(
    databaseUrl,
    `UPDATE packhouse.hook SET delivered = 18204, delivered_at = now() - interval '9 seconds' WHERE id = 1;
     UPDATE packhouse.hook SET delivered = 311, delivered_at = now() - interval '48 minutes', ${failing},
       last_error = 'HTTP 503 from hooks.analytics.example.' WHERE id = 2;
     UPDATE packhouse.notification_channel SET delivered = 42, delivered_at = now() - interval '47 minutes';
     UPDATE packhouse.notification_channel SET ${failing},
       last_error = 'No response from pager.example within 15 s.' WHERE id = 3`,
  );
}
