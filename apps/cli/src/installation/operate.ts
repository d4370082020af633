import type { LeaseStore } from '@packhouse/node-rpc';
import { type Operation, readInput } from '@packhouse/operations';
import type { QueueReader } from '@packhouse/queue';
import { ERROR_CATALOGUE, type ErrorCode, PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';
import type { CliIo } from '../terminal/io.js';
import { commandContext, openLeases, openQueueReader, withDatabase } from './connect.js';
import { operatorName } from './operator.js';

/** How long a console may take to answer, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** Most bytes of its answer. */
const MAX_ANSWER = 67_108_864;

/** Fields of results that are dates: JSON has them as text. */
const DATE = /(At|Until|Since|Ends|^at|^due|^since|^forecast|^until|^deadline|^nextTry|^firstSeen)$/;

interface Where {
  dataDir?: string;
  /** The address of a console; without it PACKHOUSE_SERVER. */
  server?: string;
}

/**
 * Runs an operation: at the console that `--server` or PACKHOUSE_SERVER names, with the token PACKHOUSE_TOKEN, else here
 * on the database. Throws what the operation throws, and CONSOLE_UNAVAILABLE.
 */
export async function operate<I extends z.ZodObject, O>(
  io: CliIo,
  where: Where,
  operation: Operation<I, O>,
  input: z.input<I>,
): Promise<O> {
  const server = where.server ?? (io.env.PACKHOUSE_SERVER || undefined);
  if (server !== undefined) return ask<O>(io, server, operation, input as Record<string, unknown>);
  return withDatabase(io, where, async (database) => {
    let reader: QueueReader | undefined;
    const queue: Pick<QueueReader, 'look'> = {
      look: async (...asked) => {
        reader ??= openQueueReader(io, where);
        return reader.look(...asked);
      },
    };
    let redis: ReturnType<typeof openLeases>;
    const leases = (): LeaseStore => {
      redis ??= openLeases(io);
      return redis ?? database.budgets;
    };
    try {
      const parts = { context: commandContext(io), database, queue, leases, who: operatorName(io) };
      return await operation.run(parts, readInput(operation.input, input));
    } finally {
      await reader?.close();
      redis?.close();
    }
  });
}

async function ask<O>(
  io: CliIo,
  server: string,
  { name, kind }: Pick<Operation, 'name' | 'kind'>,
  input: Readonly<Record<string, unknown>>,
): Promise<O> {
  const url = addressOf(server, name);
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
    throw away(`does not answer: ${error instanceof Error ? error.message : String(error)}`);
  });
  const body = await textOf(answer).then(
    (text) => JSON.parse(text, (key, value) => (DATE.test(key) && isDate(value) ? new Date(value) : value)),
    () => null,
  );
  if (answer.ok && body !== null) return body as O;
  const { error } = (body ?? {}) as { error?: { code: string; message: string; hint?: string } };
  if (typeof error?.message !== 'string' || !Object.hasOwn(ERROR_CATALOGUE, error.code)) {
    throw away(`answered with HTTP ${answer.status}, which no console would`);
  }
  throw new PackhouseError({ ...error, code: error.code as ErrorCode });
}

function addressOf(server: string, name: string): URL {
  try {
    const url = new URL(server);
    if (url.protocol === 'http:' || url.protocol === 'https:') return new URL(`/api/${name}`, url);
  } catch {
    // Said below.
  }
  throw new PackhouseError({
    code: 'USAGE',
    message: `"${server.slice(0, 100)}" is no address of a console.`,
    hint: 'Expected one like https://packhouse.example.com.',
  });
}

async function textOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > MAX_ANSWER) throw new Error('the answer is too large');
  }
  return text;
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
}
