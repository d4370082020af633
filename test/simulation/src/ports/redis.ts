import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A Redis of the simulation's own; it keeps nothing on disk. */
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

/** Starts one that asks for this password; resolves when it answers. */
export async function startRedis(password: string): Promise<RedisServer> {
  const port = await freePort();
  let child = await start(port, password);
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    command: (text) => ask(port, password, text),
    replace: async () => {
      await stop();
      child = await start(port, password);
    },
    stop,
  };
}

async function start(port: number, password: string): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...args, '--requirepass', password], { stdio: 'ignore' });
  await once(child, 'spawn');
  while (!(await ask(port, password, 'PING').catch(() => '')).includes('+PONG')) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

async function ask(port: number, password: string, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`AUTH ${password}\r\n${command}\r\nQUIT\r\n`);
    const answers: Buffer[] = [];
    for await (const chunk of socket) answers.push(chunk as Buffer);
    return Buffer.concat(answers).toString();
  } finally {
    socket.destroy();
  }
}

/** A TCP port of 127.0.0.1 that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
