import { type Program, startProgram } from '@packhouse/local';

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
  let { program, port } = await run(env, 0);
  return {
    origin: `http://127.0.0.1:${port}`,
    async kill() {
      program.child.kill('SIGKILL');
      await program.exit;
    },
    async start() {
      ({ program, port } = await run(env, port));
    },
  };
}

async function run(
  env: Record<string, string>,
  consolePort: number,
): Promise<{ program: Program; port: number }> {
  const program = startProgram('apps/console/dist/main.js', [], {
    messages: true,
    env: { PATH: process.env.PATH, CONSOLE_PORT: String(consolePort), LOG_LEVEL: 'warn', ...env },
  });
  return { program, port: (await program.message('listening')).port };
}
