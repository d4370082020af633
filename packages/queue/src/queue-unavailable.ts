import { describeError, PackhouseError, redact } from '@packhouse/runtime';

/** The host, port and database of a connection string: no user, no password, no query. */
export function addressOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'an address that is no URL';
  }
}

/** The server that keeps the queue does not answer. */
export function queueUnavailable(
  what: 'Redis' | 'Postgres',
  address: string,
  cause: unknown,
): PackhouseError {
  const reason = redact(describeError(cause)).replace(/\.+$/, '');
  return new PackhouseError({
    code: 'QUEUE_UNAVAILABLE',
    message: `The queue on ${what} at ${address} cannot be used: ${reason}.`,
    hint: `Start ${what} or correct ${what === 'Redis' ? 'REDIS_URL' : 'DATABASE_URL'}.`,
    data: { address },
    cause,
  });
}
