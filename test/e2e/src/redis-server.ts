import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from './free-port.js';

/** A Redis of the test's own; it keeps nothing on disk. */
export interface RedisServer {
  url: string;
  /** Answer of one command without arguments that need quoting, as Redis writes it. */
  command(text: string): Promise<string>;
  /** Kills it and starts an empty one at the same address. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a redis-server is on PATH. */
export function redisInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts one; resolves when it answers. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = Number(await freePort());
  let child = await start(port);
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    command: (text) => ask(port, text),
    replace: async () => {
      await stop();
      child = await start(port);
    },
    stop,
  };
}

async function start(port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  await once(child, 'spawn');
  while (!(await ask(port, 'PING').catch(() => '')).startsWith('+PONG')) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`${command}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString();
  } finally {
    socket.destroy();
  }
}
