import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './process/free-port.js';

const READY_POLL_MS = 20;

/** A running Redis that keeps nothing on disk. */
export interface LocalRedis {
  /** Where clients connect to, the password in it. */
  url: string;
  port: number;
  /** The raw answer to one command, whose arguments must need no quotes. */
  command(text: string): Promise<string>;
  /** Kills it and waits until it is gone; safe to call twice. */
  stop(): Promise<void>;
  /** The same, and starts an empty one at the same address. */
  restart(): Promise<void>;
}

/** Whether there is a redis-server on PATH. */
export function redisInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the redis-server on PATH on a free port (`bind`: of these addresses, default 127.0.0.1; `more`: before its other options);
 * resolves when it answers.
 */
export async function startRedis(
  options: { password?: string; bind?: string; more?: readonly string[] } = {},
): Promise<LocalRedis> {
  const { password, bind = '127.0.0.1', more = [] } = options;
  const port = await freePort();
  const args = [...more, '--port', String(port), '--bind', bind, '--save', '', '--appendonly', 'no'];
  if (password !== undefined) args.push('--requirepass', password);
  const command = (text: string): Promise<string> => ask(port, password, text);
  const start = async (): Promise<ChildProcess> => {
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    await once(child, 'spawn');
    while (!(await command('PING').catch(() => '')).startsWith('+PONG')) {
      if (!isRunning(child)) throw new Error(`redis-server ended with ${child.exitCode ?? child.signalCode}`);
      await delay(READY_POLL_MS);
    }
    return child;
  };
  let child = await start();
  const stop = async (): Promise<void> => {
    if (!isRunning(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    port,
    command,
    stop,
    async restart() {
      await stop();
      child = await start();
    },
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** The answer to AUTH and to QUIT. */
const OK = '+OK\r\n';
/** The answer of Sentinel, which does not know QUIT and goes on listening. */
const NO_QUIT = "-ERR unknown command 'QUIT'";

async function ask(port: number, password: string | undefined, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`${password === undefined ? '' : `AUTH ${password}\r\n`}${text}\r\nQUIT\r\n`);
    let answers = '';
    for await (const piece of socket.setEncoding('utf8')) {
      answers += piece;
      if (answers.includes(NO_QUIT)) break;
    }
    const end = answers.includes(NO_QUIT) ? answers.indexOf(NO_QUIT) : answers.length - OK.length;
    return answers.slice(password === undefined ? 0 : OK.length, end);
  } finally {
    socket.destroy();
  }
}
