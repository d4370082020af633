import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Channel } from '@packhouse/database';
import { createMail, createPost } from '@packhouse/outbound';
import { systemClock } from '@packhouse/runtime';
import { SMTPServer } from 'smtp-server';
import { notificationLoop } from '../notifications/notification-loop.js';
import { sealAddress } from '../notifications/send-message.js';
import { makeHookSalt, toHookSecret } from '../outbox/secret.js';
import { openStage } from './open-stage.js';

/** Postgres, a receiver by HTTP, an SMTP server, and packers that send notifications to both. */
export type NotificationStage = Awaited<ReturnType<typeof openNotificationStage>>;

/** Opens it, with the networks `main` and `side`. */
export async function openNotificationStage(postgresUrl: string) {
  let now: number | null = null;
  const logged: string[] = [];
  const stage = await openStage(postgresUrl, {
    networks: ['main', 'side'],
    maxPauseMs: 20,
    now: () => now ?? systemClock.now(),
    logged,
    toPosted: (posted) => posted,
  });
  const { database, makeContext, onClose, open, posted, seal, url } = stage;

  const mails: { to: string[]; text: string }[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(pieces).toString('utf8') });
        done();
      });
    },
  });
  smtp.on('error', () => undefined);
  const mailing = smtp.listen(0, '127.0.0.1');
  await once(mailing, 'listening');
  onClose(() => new Promise<void>((resolve) => smtp.close(() => resolve())));
  const smtpUrl = `smtp://127.0.0.1:${(mailing.address() as AddressInfo).port}`;

  return {
    ...stage,
    mails,
    logged,
    /** Sets the date; null: today. */
    setNow(text: string | null): void {
      now = text === null ? null : Date.parse(text);
    },
    /** The messages of webhooks at a path. */
    messages: (path = '/') =>
      posted
        .filter((one) => one.path === path)
        .map(({ body }) => JSON.parse(body) as { type: string; data: { conditions: Said[] } }),
    /** Adds a webhook at a path, or another channel. */
    async add(given: Partial<Channel> & { path?: string } = {}): Promise<{ id: number; secret: string }> {
      const { path = '/', kind = 'webhook', ...rest } = given;
      const salt = makeHookSalt();
      const address = kind === 'email' ? null : sealAddress(seal, `${url}${path}`);
      const none = { recipients: [], networks: [], names: [], severity: 'warning', quiet: [] } as const;
      const row = await database.channels.add(
        { kind, host: address === null ? '' : '127.0.0.1', address, salt, ...none, ...rest } as never,
        'test',
      );
      return { id: row.id, secret: toHookSecret(seal, salt) };
    },
    /** Gives a webhook another secret, beside the old one. */
    async rotate(id: number): Promise<string> {
      const salt = makeHookSalt();
      await database.channels.rotate(id, { salt, overlapMs: 3_600_000 }, 'test');
      return toHookSecret(seal, salt);
    },
    /** Moves a webhook to another path. */
    move: (id: number, path: string) =>
      database.channels.change(
        id,
        (before) => ({ ...before, address: sealAddress(seal, `${url}${path}`) }),
        'test',
      ),
    /** Lets the next message to each channel be sent at once. */
    due: () => stage.sql('UPDATE packhouse.notification_channel SET due_at = clock_timestamp()'),
    /** A packer that sends notifications. */
    packer({ timeoutMs = 5_000, mail = smtpUrl }: { timeoutMs?: number; mail?: string } = {}) {
      const { context, stop } = makeContext();
      const own = open(context);
      const running = notificationLoop({
        context,
        database: own,
        leases: own.budgets,
        seal,
        post: createPost({ allowed: (address) => address === '127.0.0.1', timeoutMs }),
        mail: createMail({ url: mail, from: 'packhouse@example.com', timeoutMs }),
        link: 'https://packhouse.example.com/#/alarms',
      });
      const end = async (): Promise<void> => {
        stop.abort(new Error('the packer ends'));
        await running;
      };
      onClose(end);
      return { context, stop: end };
    },
  };
}

/** A condition, as a webhook gets it. */
interface Said {
  key: string;
  name: string;
  network: string | null;
  severity: string;
  state: string;
  message: string;
  begun: number;
}
