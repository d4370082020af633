import { openScope, untilAborted } from '@packhouse/runtime';
import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import type { PostOutcome } from './post.js';

/**
 * How sending ended: the number of recipients that the server refused while it accepted others; or why it failed, in one
 * sentence for the operator.
 */
type MailOutcome =
  | { refused: number }
  | Extract<PostOutcome, { reason: string }>
  | { failure: 'refused'; reason: string };

/** Sends an e-mail; rejects only when the signal is aborted. */
export type Mail = (
  message: { id: string; to: readonly string[]; subject: string; text: string },
  signal: AbortSignal,
) => Promise<MailOutcome>;

interface MailPolicy {
  /** `smtps://user:password@host:465`, or `smtp://…`: by TLS if the server offers it, and never a password without. */
  url: string;
  /** The sender, `packhouse@example.com`. */
  from: string;
  /** From the name of the server to its last answer, in milliseconds. */
  timeoutMs: number;
}

/** Bytes of one answer of the server. */
const MAX_ANSWER = 16_384;
const MAX_REASON = 200;

/** Creates the sender. Each e-mail has a connection of its own; text only, without files or addresses that are read. */
export function createMail({ url, from, timeoutMs }: MailPolicy): Mail {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const user = decodeURIComponent(username);
  const options: SMTPTransport.Options & { maxResponseSize: number } = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: user !== '',
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(password) } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    // Ours ends it before, and says so.
    connectionTimeout: 2 * timeoutMs,
    greetingTimeout: 2 * timeoutMs,
    socketTimeout: 2 * timeoutMs,
    dnsTimeout: 2 * timeoutMs,
    maxResponseSize: MAX_ANSWER,
  };
  const transport = createTransport(options);
  const domain = from.split('@').at(-1);
  return async ({ id, to, subject, text }, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const scope = openScope(signal, late);
    const mail = {
      from: { name: 'Packhouse', address: from },
      to: to.map((address) => ({ name: '', address })),
      messageId: `<${id}@${domain}>`,
      headers: { 'auto-submitted': 'auto-generated' },
      subject,
      text,
      signal: scope.signal,
    };
    try {
      const { rejected } = await untilAborted(transport.sendMail(mail), scope.signal);
      // Not repeated: those that were accepted would get it again.
      return { refused: rejected.length };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (late.aborted) return { failure: 'timeout', reason: `No answer within ${timeoutMs / 1_000} s.` };
      return toFailure(error);
    } finally {
      scope.close();
    }
  };
}

/** The answer of the server, which may be hostile, on one line; or the code of an error of sockets, TLS or SMTP. */
function toFailure(error: unknown): MailOutcome {
  const { code, response, cause } = error as {
    code?: unknown;
    response?: unknown;
    cause?: { code?: unknown };
  };
  if (typeof response === 'string' && response !== '') {
    const said = response.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON);
    return { failure: 'refused', reason: `The server answered ${said}` };
  }
  const what = String(cause?.code ?? code ?? 'unknown').slice(0, 60);
  return { failure: 'unreachable', reason: `The connection failed: ${what}.` };
}
