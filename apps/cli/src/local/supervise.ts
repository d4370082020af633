import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ERROR_CATALOGUE, type ErrorCode, PackhouseError, type ProcessMessage } from '@packhouse/runtime';

export interface ChildOptions {
  /** The app's name: gateway, ingester or packer. */
  name: string;
  /** The program; default: that app's. */
  main?: string;
  env: Record<string, string | undefined>;
  /** Where its log goes. */
  logFile: string;
  onMessage(name: string, message: ProcessMessage): void;
  /** It ended for good: its configuration is wrong, or it keeps ending. */
  onGone(error: PackhouseError): void;
  /** Pause before a restart in milliseconds, doubled while restarts follow one another, ten seconds at most; default 250. */
  restartMs?: number;
}

/** A process that is started again when it ends. */
export interface Supervised {
  /** Resolves when it is ready for the first time. */
  ready: Promise<void>;
  stop(): Promise<void>;
}

const RESTART_MS = 250;
const MAX_RESTART_MS = 10_000;
/** One that ends this often without ever getting ready is given up. */
const MAX_FAILED_STARTS = 8;
/** Draining takes 30 s at most; then it is killed. */
const STOP_MS = 32_000;
/** Exit codes that another start would only repeat: usage and configuration. */
const FINAL_CODES = [64, 78];

/** Starts an app as a child process, in a process group of its own so that Ctrl-C reaches only the supervisor. */
export function supervise(options: ChildOptions): Supervised {
  const main = options.main ?? fileURLToPath(import.meta.resolve(`@packhouse/${options.name}/main`));
  const restartMs = options.restartMs ?? RESTART_MS;
  let child: ChildProcess | undefined;
  let stopping = false;
  let failedStarts = 0;
  let pauseMs = restartMs;
  let restart: NodeJS.Timeout | undefined;
  let lastWords: Extract<ProcessMessage, { type: 'fatal' }> | undefined;
  let becomeReady: () => void = () => undefined;
  let failReady: (error: PackhouseError) => void = () => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    failReady = reject;
  });
  ready.catch(() => undefined);

  const start = (): void => {
    let up = false;
    lastWords = undefined;
    const log = openSync(options.logFile, 'a');
    child = fork(main, { env: options.env, detached: true, stdio: ['ignore', log, log, 'ipc'] });
    closeSync(log);
    child.on('message', (message: ProcessMessage) => {
      if (message.type === 'fatal') lastWords = message;
      if (message.type === 'ready') {
        up = true;
        failedStarts = 0;
        pauseMs = restartMs;
        becomeReady();
      }
      options.onMessage(options.name, message);
    });
    const ended = (code: number | null, outcome: string): void => {
      if (stopping) return;
      if (!up) failedStarts++;
      if (failedStarts >= MAX_FAILED_STARTS || (code !== null && FINAL_CODES.includes(code))) {
        const error = whyGone(options, lastWords, outcome);
        failReady(error);
        options.onGone(error);
        return;
      }
      restart = setTimeout(start, pauseMs);
      pauseMs = Math.min(MAX_RESTART_MS, pauseMs * 2);
    };
    child.on('exit', (code, signal) => ended(code, signal ?? `code ${code}`));
    const { pid } = child;
    // A process that could not even be started never exits.
    child.on('error', (error) => (pid === undefined ? ended(null, error.message) : undefined));
  };
  start();

  return {
    ready,
    async stop() {
      stopping = true;
      clearTimeout(restart);
      const running = child;
      if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => running.once('exit', () => resolve()));
      running.kill('SIGTERM');
      const late = setTimeout(() => running.kill('SIGKILL'), STOP_MS);
      await gone;
      clearTimeout(late);
    },
  };
}

/** The child's own last sentence where it had one. */
function whyGone(
  options: ChildOptions,
  lastWords: { code: string; message: string } | undefined,
  outcome: string,
): PackhouseError {
  if (lastWords !== undefined && lastWords.code in ERROR_CATALOGUE) {
    const code = lastWords.code as ErrorCode;
    return new PackhouseError({ code, message: lastWords.message.replace(` [${code}]`, '') });
  }
  return new PackhouseError({
    code: 'CHILD_FAILED',
    message: `The ${options.name} keeps ending, the last time with ${outcome}.`,
    hint: `Its log is ${options.logFile}.`,
  });
}
