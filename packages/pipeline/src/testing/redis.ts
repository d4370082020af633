import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { vi } from 'vitest';

/** Whether there is a redis-server on PATH. */
export function redisInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A Redis without persistence. */
export interface TestRedis {
  url: string;
  /** Forgets everything it holds. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one on a free port. */
export async function startRedis(): Promise<TestRedis> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  });
  const say = async (words: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.write(`${words}\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString().trim();
    } finally {
      socket.destroy();
    }
  };
  const expectTo = async (words: string, answer: string): Promise<void> => {
    const got = await say(words);
    if (got !== answer) throw new Error(`Redis answered ${got} to ${words}`);
  };
  await vi.waitFor(() => expectTo('PING', '+PONG'), { timeout: 60_000 });
  return {
    url: `redis://127.0.0.1:${port}`,
    wipe: () => expectTo('FLUSHALL', '+OK'),
    stop: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
