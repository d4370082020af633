import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, it } from 'vitest';
import { createMail } from './mail.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A real SMTP server; returns its port and what it received. */
async function smtp(options: SMTPServerOptions = {}): Promise<{ port: number; received: string[] }> {
  const received: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _, done) => {
      let text = '';
      stream.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
      });
      stream.on('end', () => {
        received.push(text);
        done();
      });
    },
    ...options,
  });
  // Of clients that go away.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closers.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (listening.address() as AddressInfo).port, received };
}

/** A server that does with each connection what the test says. */
async function raw(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const MESSAGE = { id: 'msg_1', to: ['ada@example.com', 'ben@example.com'], subject: 'Test', text: 'Hello.' };
const send = (
  port: number,
  {
    scheme = 'smtp',
    user = '',
    timeoutMs = 5_000,
    signal = new AbortController().signal,
    ...message
  } = {} as {
    scheme?: string;
    user?: string;
    timeoutMs?: number;
    signal?: AbortSignal;
    subject?: string;
    text?: string;
  },
) =>
  createMail({ url: `${scheme}://${user}127.0.0.1:${port}`, from: 'packhouse@example.com', timeoutMs })(
    { ...MESSAGE, ...message },
    signal,
  );

it('sends an e-mail to all recipients, with the id of the message', async () => {
  const { port, received } = await smtp();
  expect(await send(port)).toEqual({ refused: 0 });
  const [text = ''] = received;
  expect(text).toContain('Message-ID: <msg_1@example.com>');
  expect(text).toContain('From: Packhouse <packhouse@example.com>');
  expect(text).toContain('To: ada@example.com, ben@example.com');
  expect(text).toContain('Hello.');
});

it('keeps line ends of a subject out of the headers, and text of any script whole', async () => {
  const { port, received } = await smtp();
  const subject = 'A\r\nBcc: eve@example.com\r\n\r\nX';
  const text = `.\r\n${'שלום '.repeat(2_000)}\r\n.\r\nRCPT TO:<eve@example.com>`;
  expect(await send(port, { subject, text })).toEqual({ refused: 0 });
  const [mail = ''] = received;
  const [head = '', body = ''] = mail.split('\r\n\r\n', 2);
  expect(head).not.toMatch(/^Bcc:/im);
  expect(Buffer.from(body, 'base64').toString('utf8')).toBe(
    `${text.replaceAll('\r\n', '\n')}`.replaceAll('\n', '\r\n'),
  );
});

it('says what a server answered that refuses, on one line', async () => {
  const { port } = await smtp({
    onRcptTo: (_, __, done) => done(Object.assign(new Error('relaying denied'), { responseCode: 550 })),
  });
  expect(await send(port)).toEqual({
    failure: 'refused',
    reason: expect.stringMatching(/^The server answered 550 relaying denied/),
  });
});

it('counts refused recipients beside accepted ones', async () => {
  const { port } = await smtp({
    onRcptTo: ({ address }, _, done) => done(address.startsWith('ben') ? new Error('no such user') : null),
  });
  expect(await send(port)).toEqual({ refused: 1 });
});

it('sends no password without TLS, nor to a server whose certificate it does not trust', async () => {
  const passwords: unknown[] = [];
  const onAuth: SMTPServerOptions['onAuth'] = (auth, _, done) => {
    passwords.push(auth.password);
    done(null, { user: 'ada' });
  };
  const plain = await smtp({ onAuth, allowInsecureAuth: true });
  const user = 'ada:s3cret@';
  expect(await send(plain.port, { user })).toMatchObject({
    reason: expect.stringMatching(/^The (connection|server)/),
  });
  // Its certificate is signed by nobody.
  const tls = await smtp({ onAuth, secure: true, disabledCommands: [] });
  const outcome = await send(tls.port, { user, scheme: 'smtps' });
  expect(outcome).toMatchObject({
    failure: 'unreachable',
    reason: expect.stringMatching(/^The connection failed: /),
  });
  expect(JSON.stringify(outcome)).not.toContain('s3cret');
  const starttls = await smtp({ onAuth, disabledCommands: [] });
  expect(await send(starttls.port, { user })).toMatchObject({ failure: 'unreachable' });
  expect(passwords).toEqual([]);
});

it.each([
  ['says nothing', () => undefined, /^No answer within 0\.5 s\.$/],
  ['closes at once', (socket: Socket) => socket.end(), /^The connection failed: /],
  [
    'talks nonsense',
    (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'),
    /^The (server answered|connection failed)/,
  ],
])('gives up on a server that %s', async (_, serve, reason) => {
  const port = await raw(serve);
  expect(await send(port, { timeoutMs: 500 })).toMatchObject({ reason: expect.stringMatching(reason) });
});

it('reads no more than it needs of a server that answers 10 MB without an end', async () => {
  let sent = 0;
  const port = await raw((socket) => {
    const more = (): void => {
      while (sent < 10_000_000) {
        sent += 65_536;
        if (!socket.write('x'.repeat(65_536))) return void socket.once('drain', more);
      }
    };
    more();
  });
  expect(await send(port)).toMatchObject({ reason: expect.any(String) });
  expect(sent).toBeLessThan(10_000_000);
});

it('ends when it is told to', async () => {
  const stop = new AbortController();
  const port = await raw(() => stop.abort(new Error('stopped')));
  await expect(send(port, { signal: stop.signal })).rejects.toThrow('stopped');
});
