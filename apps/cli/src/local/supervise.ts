import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ERROR_CATALOGUE, type ErrorCode, PackhouseError, type ProcessMessage } from '@packhouse/runtime';

interface ChildOptions {
  /** The app's name: gateway, ingester or packer. */
  name: string;
  /** The program; default: that of the app. */
  main?: string;
  /** Called at each start. */
  env(): Record<string, string | undefined>;
  logFile: string;
  onMessage(name: string, message: ProcessMessage): void;
  /** It is not started again: its configuration is wrong, or it keeps ending. */
  onGone(error: PackhouseError): void;
  /** Called with the number of each started process. */
  onStart?(pid: number): void;
  /** Called if it ends before it was ever ready. True: the reason is gone, so this start does not count. */
  putRight?(code: ErrorCode): Promise<boolean>;
  /** Pause before a restart in milliseconds, doubled for each restart in a row up to 10,000; default 250. */
  restartMs?: number;
}

/** A process that is started again when it ends. */
export interface Supervised {
  /** Resolves when it is ready for the first time. */
  ready: Promise<void>;
  /** Ends it, by force if it does not end in time; `clean` says whether it drained. */
  stop(): Promise<{ clean: boolean }>;
  /** Ends it at once. */
  kill(): void;
}

const RESTART_MS = 250;
const MAX_RESTART_MS = 10_000;
/** Starts without getting ready after which it is not started again. */
const MAX_FAILED_STARTS = 8;
/** Exit codes for a missing outside service: a process that was ready before is then started again without limit. */
const PASSING_CODES = [69, 75];
/** How long after its own drain limit a process is killed, in milliseconds. */
const STOP_GRACE_MS = 2_500;
/** The default of DRAIN_LIMIT_MS. */
const DRAIN_LIMIT_MS = 25_000;
/** Exit code of a process that had to abort work. */
const NOT_DRAINED = 75;
/** Exit codes that another start would repeat: usage and configuration. */
const FINAL_CODES = [64, 78];

/** Starts an app as a child process, in a process group of its own so that Ctrl-C reaches only the supervisor. */
export function supervise(options: ChildOptions): Supervised {
  const main = options.main ?? fileURLToPath(import.meta.resolve(`@packhouse/${options.name}/main`));
  const restartMs = options.restartMs ?? RESTART_MS;
  let child: ChildProcess | undefined;
  let stopping = false;
  /** Whether the running child said that it is ready. */
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
        const message = `Ended with ${outcome}; restarting it.`;
        options.onMessage(options.name, { type: 'problem', code: 'CHILD_FAILED', message });
      }
      if (stopping) return;
      restart = setTimeout(start, pauseMs);
      pauseMs = Math.min(MAX_RESTART_MS, pauseMs * 2);
    };
    child.on('exit', (code, signal) => void ended(code, signal ?? `code ${code}`));
    const { pid } = child;
    if (pid !== undefined) options.onStart?.(pid);
    // A process that could not be started emits no exit.
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
      // Before it is ready it has nothing to drain, and may not listen for the signal.
      return { clean: begun ? code !== null && code !== NOT_DRAINED : true };
    },
    kill() {
      stopping = true;
      clearTimeout(restart);
      child?.kill('SIGKILL');
    },
  };
}

/** Null if it cannot be opened: without its log a process still runs. */
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

/** The last error that the child reported, if any. */
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
    message: `The ${options.name} keeps ending, last with ${outcome}.`,
    hint: `See its log ${options.logFile}.`,
  });
}
