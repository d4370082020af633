import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

/** Where redis-server is on PATH; undefined where it is not installed. */
export const redisProgram = (process.env.PATH ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'redis-server'))
  .find((program) => existsSync(program));

/** A Redis of a test's own, which keeps nothing. */
export interface TestRedis {
  url: string;
  /** Takes it away for good. */
  stop(): Promise<void>;
}

/** Starts one on a free port; clients try until it answers. */
export async function startTestRedis(): Promise<TestRedis> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child: ChildProcess = spawn(redisProgram as string, args, { stdio: 'ignore' });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
