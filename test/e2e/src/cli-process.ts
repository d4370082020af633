import { type Program, startProgram } from '@packhouse/local';

/** Starts the built command line program. */
export function startCli(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Program {
  const { DATABASE_URL: _, REDIS_URL: __, NETWORKS_FILE: ___, OBJECT_STORE: ____, ...env } = process.env;
  return startProgram('apps/cli/dist/main.js', args, { env: { ...env, ...options.env }, cwd: options.cwd });
}
