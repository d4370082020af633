import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../apps/console/dist/main.js', import.meta.url));

/** A console in a process of its own. */
export interface ConsoleProcess {
  /** Where it answers, also after a restart. */
  origin: string;
  /** Kills it and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address; resolves when it answers. */
  start(): Promise<void>;
}

/** Starts the built console on a free port of this machine; resolves when it answers. */
export async function startConsole(env: Record<string, string>): Promise<ConsoleProcess> {
  let { child, port } = await run(env, 0);
  return {
    origin: `http://127.0.0.1:${port}`,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async start() {
      ({ child, port } = await run(env, port));
    },
  };
}

async function run(
  env: Record<string, string>,
  wanted: number,
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(MAIN, {
    // Not the test runner's own: the build resolves to the build.
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH, CONSOLE_PORT: String(wanted), LOG_LEVEL: 'warn', ...env },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { type: string; port: number }) => {
      if (message.type === 'listening') resolve(message.port);
    });
    child.on('exit', (code) => reject(new Error(`the console ended with ${code}: ${log}`)));
  });
  return { child, port };
}
