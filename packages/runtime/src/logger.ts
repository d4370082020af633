import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { redact } from './redact.js';

/** Structured log, one JSON line an entry. */
export type Logger = PinoLogger;

/** How much is logged, from nearly nothing to everything; `silent` is nothing. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Makes a logger; `name` is the process's. Writes to stderr unless `destination` says otherwise. */
export function createLogger(options: {
  name: string;
  level?: LogLevel;
  destination?: DestinationStream;
}): Logger {
  return pino(
    {
      name: options.name,
      level: options.level ?? 'info',
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The whole line, whatever part of it a secret came in by: messages, stacks, causes, fields.
      hooks: { streamWrite: redact },
    },
    options.destination ?? fileDestination(2),
  );
}

/**
 * An open file as a destination. A line that cannot be written, on a full disk say, is dropped: a log never stops the
 * work that it tells of, and the next line is tried anew.
 */
function fileDestination(fd: number): DestinationStream {
  const open = (): DestinationStream => {
    const destination = pino.destination({ fd, sync: true });
    // It keeps what it could not write, so it is let go whole.
    destination.on('error', () => {
      current = open();
    });
    return destination;
  };
  let current = open();
  return { write: (line) => current.write(line) };
}
