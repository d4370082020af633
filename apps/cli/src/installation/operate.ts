import type { LeaseStore } from '@packhouse/node-rpc';
import { type Operation, readInput } from '@packhouse/operations';
import type { QueueReader } from '@packhouse/queue';
import { ERROR_CATALOGUE, type ErrorCode, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';
import type { Place } from '../terminal/command.js';
import type { CliIo } from '../terminal/io.js';
import { usageError } from '../terminal/parse.js';
import { openLeases, openQueueReader, withDatabase } from './connect.js';
import { commandContext } from './context.js';
import { operatorName } from './operator.js';

/** Timeout of a request to a console, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** Maximum bytes of its response. */
const MAX_ANSWER = 67_108_864;

/** Fields as messages name them: `--plan`, `The id`; one without is the option of its name. */
type Flags = Readonly<Record<string, string>>;

/** Fields of results that are dates: JSON has them as text. */
const DATE = /(At|Until|Since|Ends|^at|^due|^since|^forecast|^until|^deadline|^nextTry|^firstSeen)$/;

/**
 * Runs an operation: at the console that `--server` or PACKHOUSE_SERVER names, with the token PACKHOUSE_TOKEN, else here
 * on the database. Throws what the operation throws, and CONSOLE_UNAVAILABLE.
 */
export async function operate<I extends z.ZodObject, O>(
  io: CliIo,
  where: Place,
  operation: Operation<I, O>,
  input: z.input<I>,
  flags?: Flags,
): Promise<O> {
  const server = where.server ?? (io.env.PACKHOUSE_SERVER || undefined);
  if (server !== undefined) return ask<O>(io, server, operation, input as Record<string, unknown>);
  return withDatabase(io, where, async (database) => {
    let reader: QueueReader | undefined;
    const queue: Pick<QueueReader, 'peek'> = {
      peek: async (...asked) => {
        reader ??= openQueueReader(io, where);
        return reader.peek(...asked);
      },
    };
    let redis: ReturnType<typeof openLeases>;
    const leases = (): LeaseStore => {
      redis ??= openLeases(io);
      return redis ?? database.budgets;
    };
    try {
      const parts = { context: commandContext(io), database, queue, leases, actor: operatorName(io) };
      return await operation.run(parts, readInput(operation.input, input));
    } catch (error) {
      throw isPackhouseError(error, 'INPUT_INVALID') ? toUsageError(error, input, flags) : error;
    } finally {
      await reader?.close();
      redis?.close();
    }
  });
}

/** Rows of a page at most. */
const PAGE = 10_000;

/** Reads all rows of an operation that lists them page by page. */
export async function readAllRows<I extends z.ZodObject, T extends { id: number }>(
  io: CliIo,
  where: Place,
  operation: Operation<I, { rows: T[]; more: boolean }>,
  input: z.input<I>,
  flags?: Flags,
): Promise<T[]> {
  const rows: T[] = [];
  for (let more = true; more; ) {
    const asked = { ...input, after: rows.at(-1)?.id, limit: PAGE };
    const page = await operate(io, where, operation, asked, flags);
    rows.push(...page.rows);
    more = page.more;
  }
  return rows;
}

/** Fields whose values are not shown. */
const SECRETS = ['password', 'key'];

/** The error of an invalid field, by its option or argument. */
function toUsageError(
  error: PackhouseError,
  input: Readonly<Record<string, unknown>>,
  flags: Flags = {},
): PackhouseError {
  const [first] = (error.data.fields ?? []) as { name: string; message: string }[];
  const field = first?.name.split('.')[0];
  if (first === undefined || !field) return error;
  const dashed = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const value = input[field];
  const isShown = typeof value === 'string' && first.message.startsWith('takes ') && !SECRETS.includes(field);
  const got = isShown ? `, got "${value.slice(0, 64)}"` : '';
  return usageError(`${flags[field] ?? `--${dashed}`} ${first.message}${got}.`);
}

async function ask<O>(
  io: CliIo,
  server: string,
  { name, kind }: Pick<Operation, 'name' | 'kind'>,
  input: Readonly<Record<string, unknown>>,
): Promise<O> {
  const url = toAddress(server, name);
  if (kind === 'read') {
    for (const [key, value] of Object.entries(input)) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
  }
  const away = (why: string): PackhouseError =>
    new PackhouseError({
      code: 'CONSOLE_UNAVAILABLE',
      message: `The console at ${url.origin} ${why}.`,
      hint: 'Check --server or PACKHOUSE_SERVER, and that `packhouse console` runs there.',
    });
  const token = io.env.PACKHOUSE_TOKEN;
  const answer = await fetch(url, {
    method: kind === 'read' ? 'GET' : 'POST',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(kind === 'read' ? {} : { 'content-type': 'application/json' }),
    },
    ...(kind === 'read' ? {} : { body: JSON.stringify(input) }),
    redirect: 'error',
    signal: AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error: unknown) => {
    io.signal.throwIfAborted();
    throw away(`does not respond: ${error instanceof Error ? error.message : String(error)}`);
  });
  const body = await getText(answer).then(
    (text) => JSON.parse(text, (key, value) => (DATE.test(key) && isDate(value) ? new Date(value) : value)),
    () => null,
  );
  if (answer.ok && body !== null) return body as O;
  const { error } = (body ?? {}) as { error?: { code: string; message: string; hint?: string } };
  if (typeof error?.message !== 'string' || !Object.hasOwn(ERROR_CATALOGUE, error.code)) {
    throw away(`returned HTTP ${answer.status} without an error of a console`);
  }
  throw new PackhouseError({ ...error, code: error.code as ErrorCode });
}

function toAddress(server: string, name: string): URL {
  try {
    const url = new URL(server);
    if (url.protocol === 'http:' || url.protocol === 'https:') return new URL(`/api/${name}`, url);
  } catch {
    // Refused below.
  }
  throw usageError(
    `--server takes the URL of a console, got "${server.slice(0, 100)}".`,
    'For example --server https://packhouse.example.com.',
  );
}

async function getText(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > MAX_ANSWER) throw new Error('the response is too large');
  }
  return text;
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
}
