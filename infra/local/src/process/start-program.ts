import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessMessage } from '@packhouse/runtime';
import type { Scope } from './scope.js';

/** One line of `packhouse … --json`. */
export type ProgramEvent = { event: string } & Record<string, unknown>;

/** A program of the project that was started from its build, with what it said. Waiting rejects if it ends first. */
export interface Program {
  child: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Both. */
  log(): string;
  /** Its events so far. */
  events: readonly ProgramEvent[];
  /** The first event that fits, at once or as soon as it comes. */
  event(name: string, fits?: (event: ProgramEvent) => boolean): Promise<ProgramEvent>;
  /** The first message of this type, of a program that was started with `messages`. Rejects after `fatal`. */
  message<T extends ProcessMessage['type']>(type: T): Promise<Extract<ProcessMessage, { type: T }>>;
  /** The first line of stdout. */
  firstLine(): Promise<string>;
  /** The exit code, or the signal's name, when all output was read. */
  exit: Promise<number | NodeJS.Signals>;
  /** Asks it to end, waits, and kills it if it does not. */
  stop(): Promise<void>;
}

/** Time limit of a program to end before it is killed, in milliseconds. */
const STOP_MS = 40_000;
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Starts a program, given by its file from the root of the project. Its stdout is kept, unless the caller reads it. */
export function startProgram(
  file: string,
  args: readonly string[],
  options: {
    env: Readonly<Record<string, string | undefined>>;
    cwd?: string | undefined;
    /** Whether it may send messages, as to a supervisor. */
    messages?: boolean;
    readStdout?: boolean;
    /** A command that runs the program: `ip netns exec …`. */
    within?: readonly string[] | undefined;
    /** Ends it at the latest. */
    scope?: Scope;
  },
): Program {
  const { env, cwd, readStdout = true, scope } = options;
  const main = path.resolve(ROOT, file);
  const [command = '', ...rest] = [...(options.within ?? []), process.execPath, main, ...args];
  const child = spawn(command, rest, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', options.messages ? 'ipc' : 'ignore'],
  });
  if (child.pid === undefined) throw new Error(`${file} could not be started`);
  // The channel may break while something is told.
  child.on('error', () => undefined);
  const news = new EventEmitter().setMaxListeners(0);
  const said = { stdout: '', stderr: '' };
  const events: ProgramEvent[] = [];
  const messages: ProcessMessage[] = [];
  let parsed = 0;
  let ended = false;
  const hear = (name: 'stdout' | 'stderr'): void => {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      const end = said.stdout.lastIndexOf('\n') + 1;
      for (const line of said.stdout.slice(parsed, end).split('\n')) {
        if (line.startsWith('{"')) events.push(JSON.parse(line) as ProgramEvent);
      }
      parsed = Math.max(parsed, end);
      news.emit('news');
    });
  };
  if (readStdout) hear('stdout');
  hear('stderr');
  child.on('message', (message: ProcessMessage) => {
    messages.push(message);
    news.emit('news');
  });
  const exit = once(child, 'close').then(([code, signal]) => {
    ended = true;
    news.emit('news');
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const until = async <T>(find: () => T | undefined, what: string): Promise<T> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (ended) {
        const output = `stderr: ${said.stderr}; stdout: ${said.stdout.slice(-2_000)}`;
        throw new Error(`${file} ended with ${await exit} before ${what}; ${output}`);
      }
      await once(news, 'news');
    }
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(late);
  };
  scope?.defer(stop);
  return {
    child,
    pid: child.pid,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    log: () => said.stdout + said.stderr,
    events,
    event: (name, fits = () => true) =>
      until(() => events.find((event) => event.event === name && fits(event)), `the event "${name}"`),
    message: <T extends ProcessMessage['type']>(type: T) =>
      until(() => {
        const fatal = messages.find((message) => message.type === 'fatal');
        const found = messages.find((message) => message.type === type);
        if (found === undefined && fatal !== undefined && 'message' in fatal) throw new Error(fatal.message);
        return found as Extract<ProcessMessage, { type: T }> | undefined;
      }, `"${type}"`),
    firstLine: () => until(() => /^(.*)\n/.exec(said.stdout)?.[1], 'its first line'),
    exit,
    stop,
  };
}
