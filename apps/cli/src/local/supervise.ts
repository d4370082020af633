import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ERROR_CATALOGUE, type ErrorCode, PackhouseError, type ProcessMessage } from '@packhouse/runtime';

export interface ChildOptions {
  /** The app's name: gateway, ingester or packer. */
  name: string;
  /** The program; default: that app's. */
  main?: string;
  /** Asked for at each start. */
  env(): Record<string, string | undefined>;
  /** Where its log goes. */
  logFile: string;
  onMessage(name: string, message: ProcessMessage): void;
  /** It ended for good: its configuration is wrong, or it keeps ending. */
  onGone(error: PackhouseError): void;
  /** Hears the number of each process that is started. */
  onStart?(pid: number): void;
  /** It ended before it was ready for the first time; true where what it said was put right, so that it does not count. */
  putRight?(code: ErrorCode): Promise<boolean>;
  /** Pause before a restart in milliseconds, doubled while restarts follow one another, ten seconds at most; default 250. */
  restartMs?: number;
}

/** A process that is started again when it ends. */
export interface Supervised {
  /** Resolves when it is ready for the first time. */
  ready: Promise<void>;
  /** Ends it, by force where it does not end in time; `clean` says that it drained. */
  stop(): Promise<{ clean: boolean }>;
  /** Ends it this instant. */
  kill(): void;
}

const RESTART_MS = 250;
const MAX_RESTART_MS = 10_000;
/** One that ends this often without getting ready is given up. */
const MAX_FAILED_STARTS = 8;
/** Exit codes that say something outside is missing for now: one that was ready before is started again for ever. */
const PASSING_CODES = [69, 75];
/** How much longer than its own limit a process may take to drain before it is killed, in milliseconds. */
const STOP_GRACE_MS = 2_500;
/** What a process takes to drain where DRAIN_LIMIT_MS does not say otherwise. */
const DRAIN_LIMIT_MS = 25_000;
/** Exit code of a process that had to cut something off. */
const NOT_DRAINED = 75;
/** Exit codes that another start would only repeat: usage and configuration. */
const FINAL_CODES = [64, 78];

/** Starts an app as a child process, in a process group of its own so that Ctrl-C reaches only the supervisor. */
export function supervise(options: ChildOptions): Supervised {
  const main = options.main ?? fileURLToPath(import.meta.resolve(`@packhouse/${options.name}/main`));
  const restartMs = options.restartMs ?? RESTART_MS;
  let child: ChildProcess | undefined;
  let stopping = false;
  /** Whether the child that runs now said that it is ready. */
  let isUp = false;
  let wasReady = false;
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
    isUp = false;
    lastWords = undefined;
    const log = openLog(options.logFile);
    child = fork(main, {
      env: options.env(),
      detached: true,
      stdio: ['ignore', log ?? 'ignore', log ?? 'ignore', 'ipc'],
    });
    if (log !== null) closeSync(log);
    child.on('message', (message: ProcessMessage) => {
      if (message.type === 'fatal') lastWords = message;
      if (message.type === 'ready') {
        up = true;
        isUp = true;
        wasReady = true;
        failedStarts = 0;
        pauseMs = restartMs;
        becomeReady();
      }
      options.onMessage(options.name, message);
    });
    const ended = async (code: number | null, outcome: string): Promise<void> => {
      if (stopping) return;
      if (!wasReady && lastWords !== undefined && isCode(lastWords.code)) {
        if (await options.putRight?.(lastWords.code)) {
          if (!stopping) start();
          return;
        }
      }
      const passing = wasReady && code !== null && PASSING_CODES.includes(code);
      if (!up && !passing) failedStarts++;
      if (failedStarts >= MAX_FAILED_STARTS || (code !== null && FINAL_CODES.includes(code))) {
        const error = whyGone(options, lastWords, outcome);
        failReady(error);
        options.onGone(error);
        return;
      }
      if (lastWords === undefined && code !== 0) {
        const message = `ended with ${outcome} and is started again`;
        options.onMessage(options.name, { type: 'problem', code: 'CHILD_FAILED', message });
      }
      if (stopping) return;
      restart = setTimeout(start, pauseMs);
      pauseMs = Math.min(MAX_RESTART_MS, pauseMs * 2);
    };
    child.on('exit', (code, signal) => void ended(code, signal ?? `code ${code}`));
    const { pid } = child;
    if (pid !== undefined) options.onStart?.(pid);
    // A process that could not even be started never exits.
    child.on('error', (error) => (pid === undefined ? void ended(null, error.message) : undefined));
  };
  start();

  return {
    ready,
    async stop() {
      stopping = true;
      clearTimeout(restart);
      const running = child;
      if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null)
        return { clean: true };
      const begun = isUp;
      const gone = new Promise<number | null>((resolve) => running.once('exit', resolve));
      running.kill('SIGTERM');
      const limitMs = Number(options.env().DRAIN_LIMIT_MS) || DRAIN_LIMIT_MS;
      const late = setTimeout(() => running.kill('SIGKILL'), limitMs + STOP_GRACE_MS);
      const code = await gone;
      clearTimeout(late);
      // One that has not begun has nothing to drain, and may not listen for the signal yet.
      return { clean: begun ? code !== null && code !== NOT_DRAINED : true };
    },
    kill() {
      stopping = true;
      clearTimeout(restart);
      child?.kill('SIGKILL');
    },
  };
}

/** Null where it cannot be opened: a full disk is no reason to run without a packer. */
function openLog(file: string): number | null {
  try {
    return openSync(file, 'a');
  } catch {
    return null;
  }
}

function isCode(code: string): code is ErrorCode {
  return code in ERROR_CATALOGUE;
}

/** The child's own last sentence where it had one. */
function whyGone(
  options: ChildOptions,
  lastWords: { code: string; message: string } | undefined,
  outcome: string,
): PackhouseError {
  if (lastWords !== undefined && isCode(lastWords.code)) {
    const { code } = lastWords;
    return new PackhouseError({ code, message: lastWords.message.replace(` [${code}]`, '') });
  }
  return new PackhouseError({
    code: 'CHILD_FAILED',
    message: `The ${options.name} keeps ending, the last time with ${outcome}.`,
    hint: `Its log is ${options.logFile}.`,
  });
}
