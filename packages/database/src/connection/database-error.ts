import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';

const HINT = 'Check that Postgres runs and that DATABASE_URL names it.';

/** Answers that concern the server and not the statement, by their SQLSTATE or the beginning of it. */
const CANNOT_BE_USED: readonly { states: string[]; why?: string; hint?: string; retryable?: boolean }[] = [
  {
    states: ['53300'],
    why: 'it has no connection left',
    hint: 'Raise max_connections, or run fewer processes.',
  },
  {
    states: ['25006'],
    why: 'it is read-only',
    hint: 'Set DATABASE_URL to the primary server, not to a standby, and check default_transaction_read_only there.',
  },
  // Wrong password, unknown role or database: waiting does not help.
  { states: ['28', '3D000'], retryable: false, hint: 'Correct DATABASE_URL.' },
  {
    states: ['42501'],
    retryable: false,
    hint: 'Make the role in DATABASE_URL the owner of the schemas packhouse and bullmq and of all that is in them.',
  },
  // Another session's prepared statements: the mode of a pooler was changed under a running program.
  { states: ['26000', '42P05'], hint: 'Let the pooler run in session mode.' },
  // A statement that took longer than the pool's limit, or that an operator cancelled.
  { states: ['57014'] },
  // Connection exceptions; a server that is stopping, starting or ended this session or its transaction; no memory or
  // another resource left; the system under it.
  { states: ['08', '57P', '25P03', '25P04', '53', '58'] },
];

/** Host, port and database of a connection string, without secrets. */
export function databaseAddress(connectionString: string): string {
  try {
    const url = new URL(connectionString);
    return `${url.hostname === '' ? 'localhost' : url.hostname}:${url.port === '' ? '5432' : url.port}${url.pathname}`;
  } catch {
    return 'the address in DATABASE_URL';
  }
}

/**
 * Converts an error of the driver to a PackhouseError.
 *
 * Decided by type and SQLSTATE, never by a message's text. An answer of the server has a code. A TypeError or
 * RangeError is a bug of this program and is returned as it is. Anything else concerns the connection.
 */
export function databaseError(error: unknown, connectionString: string): unknown {
  if (error instanceof PackhouseError || error instanceof TypeError || error instanceof RangeError)
    return error;
  const answer = toAnswer(error);
  return answer === undefined
    ? unavailable(connectionString, reason(error), error)
    : fromAnswer(answer, connectionString);
}

/** The server's answer, also if node-pg-migrate wrapped it. */
export function toAnswer(error: unknown): pg.DatabaseError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof pg.DatabaseError) return inner;
  }
  return undefined;
}

function fromAnswer(answer: pg.DatabaseError, connectionString: string): PackhouseError {
  const address = databaseAddress(connectionString);
  const code = answer.code ?? '';
  const data = { sqlState: code };
  if (code === '53100') {
    return new PackhouseError({
      code: 'DISK_FULL',
      message: `Postgres at ${address} has no space left on its disk.`,
      hint: 'Free some space there; work goes on by itself.',
      data,
      cause: answer,
    });
  }
  const known = CANNOT_BE_USED.find(({ states }) => states.some((state) => code.startsWith(state)));
  if (known !== undefined) return unavailable(address, known.why ?? answer.message, answer, known);
  if (code === 'PHL01') {
    return new PackhouseError({
      code: 'LEASE_LOST',
      message: `A write at ${address} was refused: ${answer.message}.`,
      hint: 'Another process does the work now; nothing is to be done.',
      data,
      cause: answer,
    });
  }
  if (code === '42P01' || code === '3F000' || code === '42703') {
    return new PackhouseError({
      code: 'DATABASE_NOT_MIGRATED',
      message: `The schema in ${address} does not fit this program: ${answer.message}.`,
      hint: 'Run `packhouse migrate`.',
      data,
      cause: answer,
    });
  }
  return new PackhouseError({
    code: 'INTERNAL',
    message: `Postgres at ${address} refused a statement: ${answer.message} (SQLSTATE ${code}).`,
    data,
    cause: answer,
    // Serialization failures, deadlocks, lock timeouts.
    retryable: code.startsWith('40') || code === '55P03',
  });
}

function unavailable(
  address: string,
  why: string,
  cause: unknown,
  more: { retryable?: boolean; hint?: string } = {},
): PackhouseError {
  const host = address.includes('://') ? databaseAddress(address) : address;
  return new PackhouseError({
    code: 'DATABASE_UNAVAILABLE',
    message: `Postgres at ${host} cannot be used: ${why.replace(/\.$/, '')}.`,
    hint: more.hint ?? HINT,
    data: { address: host },
    cause,
    retryable: more.retryable,
  });
}

function reason(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name cannot be resolved';
  if (typeof message === 'string' && message !== '') return message;
  return typeof code === 'string' ? code : 'the connection failed';
}
