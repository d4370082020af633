import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Channel, createDatabase, type Database } from '@packhouse/database';
import { freshDatabase, runSql } from '@packhouse/local';
import { createMail, createPost } from '@packhouse/outbound';
import { type Clock, type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { SMTPServer } from 'smtp-server';
import { notificationLoop } from '../notifications/notification-loop.js';
import { sealAddress } from '../notifications/send-message.js';
import { makeHookSalt, toHookSecret } from '../outbox/secret.js';

/** A request as a receiver got it. */
interface Posted {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Postgres, a receiver by HTTP, an SMTP server, and packers that send notifications to both. */
export type NotificationStage = Awaited<ReturnType<typeof openNotificationStage>>;

/** Opens it, with the networks `main` and `side`. */
export async function openNotificationStage(postgresUrl: string) {
  const fresh = await freshDatabase(postgresUrl, { migrated: true });
  const closers: (() => Promise<unknown>)[] = [() => fresh.drop()];
  const onClose = (close: () => Promise<unknown>): void => void closers.unshift(close);
  let now: number | null = null;
  const logged: string[] = [];
  // Pauses are short, so that nothing is waited for; the date is what the test says.
  const clock: Clock = {
    ...systemClock,
    now: () => now ?? systemClock.now(),
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal),
  };
  const makeContext = (): { context: Context; stop: AbortController } => {
    const stop = new AbortController();
    const destination = { write: (line: string) => void logged.push(line) };
    const logger = createLogger({ name: 'test', level: 'debug', destination });
    return { stop, context: { logger, metrics: createMetrics(), clock, signal: stop.signal } };
  };
  const open = (context: Context): Database => {
    const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
    onClose(() => database.close());
    return database;
  };
  const database = open(makeContext().context);
  for (const id of ['main', 'side']) await database.networks.register({ id, chainId: 1 });
  const seal = await database.operators.seal();

  const posted: Posted[] = [];
  let answer = (_: Posted, response: ServerResponse): unknown => response.writeHead(204).end();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body };
      posted.push(one);
      answer(one, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onClose(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

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
    database,
    seal,
    url,
    posted,
    mails,
    logged,
    sql: (text: string) => runSql(fresh.url, text),
    setAnswer(next: typeof answer): void {
      answer = next;
    },
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
    due: () => runSql(fresh.url, 'UPDATE packhouse.notification_channel SET due_at = clock_timestamp()'),
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
    async close(): Promise<void> {
      for (const close of closers.splice(0)) await close();
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
