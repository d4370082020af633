import { type Program, startProgram } from '@packhouse/local';

/** The environment of this process, without what leads `packhouse` elsewhere. */
export function cliEnvironment(): Record<string, string | undefined> {
  const { DATABASE_URL: _, REDIS_URL: __, NETWORKS_FILE: ___, OBJECT_STORE: ____, ...env } = process.env;
  return env;
}

/** Starts the built command line program. */
export function startCli(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Program {
  const env = { ...cliEnvironment(), ...options.env };
  return startProgram('apps/cli/dist/main.js', args, { env, cwd: options.cwd });
}
