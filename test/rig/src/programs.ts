import path from 'node:path';
import { createScope, type Program, plainEnvironment, type Scope, startProgram } from '@packhouse/local';

/** Starts a built program of the project, given from its root; it ends with the scope at the latest. */
export function startNode(
  scope: Scope,
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  options: { readStdout?: boolean; cwd?: string } = {},
): Program {
  const all = { ...plainEnvironment(process.env), ...env };
  return startProgram(file, args, { scope, env: all, messages: true, ...options });
}

/** The whole output of a program, once it has ended. Throws if its exit code is not 0. */
export async function getOutput(program: Program): Promise<string> {
  const code = await program.exit;
  if (code === 0) return program.stdout();
  const said = program.stderr() + program.stdout();
  throw new Error(`${program.child.spawnargs.slice(1, 3).join(' ')} ended with ${code}: ${said.slice(-600)}`);
}

/**
 * Starts a gateway, ingester or packer as an orchestrator would: it is told nothing but by signals and its settings.
 * `scope` ends it; `root`: of the build in that folder; `within`: a command that runs it.
 */
export function startService(
  name: 'gateway' | 'ingester' | 'packer',
  env: Readonly<Record<string, string>>,
  { root = '', ...options }: { scope?: Scope; within?: readonly string[]; root?: string } = {},
): Program {
  return startProgram(path.join(root, `apps/${name}/dist/main.js`), [], {
    ...options,
    messages: true,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: 'any',
      ...env,
    },
  });
}

/** Starts a gateway, and returns its address, without a slash at the end, once it is ready. */
export async function startGateway(
  env: Readonly<Record<string, string>>,
  scope: Scope,
): Promise<{ url: string; process: Program }> {
  const process = startService('gateway', env, { scope });
  const { port } = await process.message('listening');
  await process.message('ready');
  return { url: `http://127.0.0.1:${port}`, process };
}

/** A replay node in a process of its own. */
export interface ReplayProcess {
  url: string;
  first: number;
  last: number;
}

/** Starts a replay node as its command line takes it, so that it does not share a thread with what is measured. */
export async function startReplay(
  scope: Scope,
  args: readonly string[],
  file = 'test/replay-node/dist/main.js',
): Promise<ReplayProcess> {
  const line = await startNode(scope, file, args).firstLine();
  const match = /^(\S+) serves blocks (\d+) to (\d+)$/.exec(line);
  if (match === null) throw new Error(`the replay node said: ${line}`);
  return { url: match[1] as string, first: Number(match[2]), last: Number(match[3]) };
}

/** Runs with a scope of its own, which is closed at the end, whatever happens. */
export async function withScope<T>(run: (scope: Scope) => Promise<T>): Promise<T> {
  const scope = createScope();
  try {
    return await run(scope);
  } finally {
    await scope.close();
  }
}
