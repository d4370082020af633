import { spawn } from 'node:child_process';
import { format } from 'node:util';
import type { z } from 'zod';
import { describeError, PackhouseError, toFinalError } from './catalogue.js';
import { guardConnections } from './connections/guard-connections.js';
import type { Context } from './context.js';
import { createLogger, type Logger, type LogLevel } from './observe/logger.js';
import { collectProcessMetrics, createMetrics } from './observe/metrics.js';
import { redact } from './observe/redact.js';
import { openTracing } from './observe/tracing.js';
import { completeEnvironment, loadSettings, type SettingsSchema } from './settings.js';
import { createShutdown, onSignals, type Shutdown } from './shutdown.js';
import { createOnceAWhile, systemClock } from './time/clock.js';

/** From a supervised process to its supervisor, which ignores unknown types and fields. */
export type ProcessMessage =
  | { type: 'listening'; port: number }
  | { type: 'metrics'; port: number }
  | { type: 'ready' }
  | { type: 'problem'; code: string; message: string }
  | { type: 'fatal'; code: string; message: string; exitCode: number };

interface ProcessParts<S extends SettingsSchema> {
  settings: Readonly<z.infer<S>>;
  context: Context;
  shutdown: Shutdown;
  /** Sends a message to the supervisor, if there is one. */
  notify(message: ProcessMessage): void;
}

/** Exit code of a process that could not drain in time: start it again. */
const NOT_DRAINED = 75;
/** Exit codes after a second signal, as a shell reports them. */
const TOLD_TWICE = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** The same words are logged once in this time, in milliseconds. */
const REPEAT_MS = 60_000;

/**
 * Runs a process: settings, context, `start`, then waits for SIGTERM, SIGINT, SIGHUP or the end of its supervisor, and
 * drains.
 *
 * ```
 *            SIGTERM, SIGINT,                 all closed         exit 0
 *            supervisor gone     ┌─ drain ──────────────────────▶
 *  start ──▶ run ───────────────▶│  limit over, or cut off       exit 75
 *    │        │                  └──────────────────────────────▶
 *    │        │ uncaught                      a second signal    exit 143 or 130, at once
 *    ▼        ▼
 *   the catalogue's code, 70
 * ```
 *
 * A supervised process (one with an IPC channel) leaves SIGINT and SIGHUP to its supervisor, which gets them too, and drains at its
 * message `drain` as at SIGTERM; a SIGTERM beside it, which the system may send to all, is not a second signal. An error is one
 * line on stderr and the exit code of the catalogue. An uncaught error ends the process, because its state is unknown:
 * other processes repeat the unfinished work. During the drain such an error is only logged, so that failures caused
 * by closing do not stop the release of jobs and locks. Warnings of Node and of libraries are lines of the log.
 */
export async function runProcess<S extends SettingsSchema>(
  host: NodeJS.Process,
  options: { name: string; settings: S; start(parts: ProcessParts<S>): Promise<void> },
): Promise<void> {
  const supervised = host.send !== undefined;
  const notify = (message: ProcessMessage): void => {
    if (supervised && host.connected) host.send?.(message, undefined, undefined, () => undefined);
  };
  const fail = (error: unknown): never => {
    const known = toFinalError(error);
    const { code, exitCode } = known;
    const message = redact(describeError(known));
    notify({ type: 'fatal', code, message, exitCode });
    host.stderr.write(`packhouse ${options.name}: ${message}\n`);
    return host.exit(exitCode);
  };
  let shutdown: Shutdown | undefined;
  try {
    requireWebAssembly();
    guardConnections();
    // A supervisor passes its own on.
    if (!supervised) completeEnvironment(host);
    const settings = loadSettings(options.settings, host.env);
    const { LOG_LEVEL: level, DRAIN_LIMIT_MS: limitMs } = settings as {
      LOG_LEVEL?: LogLevel;
      DRAIN_LIMIT_MS?: number;
    };
    const logger = createLogger({ name: options.name, repeatMs: REPEAT_MS, level });
    captureWarnings(host, ({ message, ...fields }) => logger.warn(fields, message));
    const parts = createShutdown({ logger, limitMs });
    shutdown = parts;
    const metrics = createMetrics();
    collectProcessMetrics(metrics);
    const tracing = await openTracing();
    const context: Context = { logger, metrics, clock: systemClock, signal: parts.signal, tracing };
    const drain = async (reason: string): Promise<void> => {
      const { clean } = await parts.run(reason);
      host.exit(clean ? 0 : NOT_DRAINED);
    };
    onSignals(host, supervised ? ['SIGTERM'] : ['SIGTERM', 'SIGINT', 'SIGHUP'], {
      first: (name) => void drain(name),
      again: (name) => host.exit(TOLD_TWICE[name]),
    });
    // The terminal sends these to all; the supervisor decides.
    if (supervised) for (const name of ['SIGINT', 'SIGHUP'] as const) host.on(name, () => undefined);
    host.on('message', (message) => {
      if (supervised && (message as { type?: unknown } | null)?.type === 'drain')
        void drain('the supervisor');
    });
    const left = (): void => void drain('the supervisor is gone');
    host.on('disconnect', left);
    // It may have gone while this program was loaded.
    if (supervised && !host.connected) left();
    const uncaught = (error: unknown, message: string): void => {
      if (parts.signal.aborted) {
        logger.error({ err: error }, `${message} while draining`);
        return;
      }
      logger.fatal({ err: error }, message);
      fail(error);
    };
    host.on('unhandledRejection', (error) => uncaught(error, 'unhandled rejection'));
    host.on('uncaughtException', (error) => uncaught(error, 'uncaught exception'));
    await options.start({ settings, context, shutdown: parts, notify });
    notify({ type: 'ready' });
    if (!supervised && host.env.NOTIFY_SOCKET) notifySystemd(context.logger);
  } catch (error) {
    // A start that fails because of the shutdown is not an error: the drain ends the process.
    if (shutdown?.signal.aborted !== true) fail(error);
  }
}

/** Reports to systemd that the service is ready, by the program of systemd: Node has no datagram sockets of Unix. */
function notifySystemd(logger: Logger): void {
  spawn('systemd-notify', ['--ready'], { stdio: 'ignore' })
    .on('error', (error) => logger.error({ err: error }, 'systemd-notify cannot be started'))
    .on('exit', (code) => {
      if (code !== 0) logger.error({ code }, 'systemd-notify failed');
    });
}

/** A message that Node or a library would have printed on stderr. */
interface ForeignWarning {
  /** Node's name of the warning (`DeprecationWarning`), or `console.warn`, `console.error`. */
  source: string;
  /** For example `DEP0040`. */
  code: string | undefined;
  message: string;
}

/**
 * Captures what Node and libraries print on stderr: warnings (`(node:123) Warning: …`) and console output. Passes
 * each to `report` once per process; messages that differ only in numbers are the same.
 */
export function captureWarnings(host: NodeJS.Process, report: (warning: ForeignWarning) => void): void {
  const onceAWhile = createOnceAWhile(Number.POSITIVE_INFINITY, () => 0);
  const tell = (warning: ForeignWarning): void => {
    if (onceAWhile(`${warning.source} ${warning.code} ${warning.message}`).say) report(warning);
  };
  // Node's own listener is the one that prints.
  host.removeAllListeners('warning');
  host.on('warning', ({ name, message, code }: Error & { code?: string }) => {
    tell({ source: name, code, message });
  });
  for (const level of ['warn', 'error'] as const) {
    console[level] = (...words: unknown[]) => {
      tell({ source: `console.${level}`, code: undefined, message: format(...words) });
    };
  }
}

/**
 * Makes sure that this Node has WebAssembly: the hash, undici's HTTP parser and so `fetch` are such. It has none with
 * `--jitless`, and where the system forbids programs to make code. SIMD is not needed: what uses it does without.
 *
 * @throws PackhouseError NODE_JS_UNUSABLE
 */
export function requireWebAssembly(): void {
  if ('WebAssembly' in globalThis) return;
  throw new PackhouseError({
    code: 'NODE_JS_UNUSABLE',
    message: 'This Node.js runs without WebAssembly, which hashes and HTTP need.',
    hint: 'Start it without --jitless.',
  });
}
