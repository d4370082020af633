import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** Structured log, one JSON line an entry. */
export type Logger = PinoLogger;

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** API keys as Packhouse makes them: `ph_<8 public>_<43 secret>`; the secret part is what is taken out. */
const KEY = /\b(ph_[A-Za-z0-9]{8})_[A-Za-z0-9_-]{20,}/g;
/** User names, passwords and query strings of addresses. */
const URL_SECRET = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@]+@)?([^\s/?#"']+)([^\s?#"']*)(\?[^\s"']*)?/gi;

/** Takes API keys, and the credentials and paths of addresses (node providers put keys there), out of a text. */
export function redact(text: string): string {
  return text
    .replace(KEY, '$1_***')
    .replace(
      URL_SECRET,
      (_, scheme: string, host: string, path: string, query: string | undefined) =>
        `${scheme}${host}${path.length > 1 ? '/***' : path}${query === undefined ? '' : '?***'}`,
    );
}

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
      hooks: { streamWrite: redact },
    },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
