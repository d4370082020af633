import { createRequire } from 'node:module';
import type * as Pino from 'pino';
import type { DestinationStream, LoggerOptions, Logger as PinoLogger } from 'pino';
import { createOnceAWhile, systemClock } from '../time/clock.js';
import { redact } from './redact.js';

/** Structured log, one JSON line per entry. */
export type Logger = PinoLogger;

/** Loaded with the first logger: most commands have none, and end sooner. */
const load = (): typeof Pino => createRequire(import.meta.url)('pino');

/** Log levels, from fewest lines to most; `silent` logs nothing. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Creates a logger; `name` is that of the process. Writes to stderr, or to `destination`.
 *
 * With `repeatMs`, warnings and errors with the same words are written once in that many milliseconds; `repeated` of
 * the next one is the number left out. So an upstream that fails for a day cannot fill a disk.
 */
export function createLogger(options: {
  name: string;
  level?: LogLevel;
  destination?: DestinationStream;
  repeatMs?: number;
}): Logger {
  const { pino } = load();
  return pino(
    {
      name: options.name,
      level: options.level ?? 'info',
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The whole line, as a secret may be in any part of it: messages, stacks, causes, fields.
      hooks: {
        streamWrite: redact,
        ...(options.repeatMs === undefined ? {} : { logMethod: repeatSeldom(options.repeatMs) }),
      },
    },
    options.destination ?? fileDestination(2),
  );
}

const WARN = 40;
const FATAL = 60;

/** Fields that distinguish problems; all others differ from line to line. */
const TELLING = ['network', 'upstream', 'part', 'queue', 'cause', 'reason', 'error'] as const;

function repeatSeldom(everyMs: number): NonNullable<LoggerOptions['hooks']>['logMethod'] {
  const onceAWhile = createOnceAWhile(everyMs, () => systemClock.elapsed());
  return function logMethod(args, method, level) {
    if (level < WARN || level >= FATAL) return method.apply(this, args);
    const [first, ...rest] = args as unknown[];
    const fields = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : null;
    const { say, hidden } = onceAWhile(toWords(fields, fields === null ? [first, ...rest] : rest));
    if (!say) return;
    if (hidden === 0) return method.apply(this, args);
    const repeated = { ...(fields instanceof Error ? { err: fields } : fields), repeated: hidden };
    method.apply(this, [repeated, ...(fields === null ? [first, ...rest] : rest)] as never);
  };
}

function toWords(fields: Record<string, unknown> | null, words: readonly unknown[]): string {
  const error = (fields?.err ?? (fields instanceof Error ? fields : undefined)) as
    | { code?: unknown; message?: unknown }
    | undefined;
  const telling = TELLING.map((name) => fields?.[name]);
  return [...words, ...telling, error?.code, error?.message].map((word) => String(word ?? '')).join(' ');
}

/**
 * An open file as a destination. A line that cannot be written, for example on a full disk, is dropped: a log must not
 * stop the work, and the next line is written as usual.
 */
function fileDestination(fd: number): DestinationStream {
  const open = (): DestinationStream => {
    const destination = load().destination({ fd, sync: true });
    // It keeps unwritten lines in memory, so it is replaced.
    destination.on('error', () => {
      current = open();
    });
    return destination;
  };
  let current = open();
  return { write: (line) => current.write(line) };
}
