import { type Program, plainEnvironment, startProgram } from '@packhouse/local';

/** Starts the built command line program. */
export function startCli(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Program {
  const env = { ...plainEnvironment(process.env), ...options.env };
  return startProgram('apps/cli/dist/main.js', args, { env, cwd: options.cwd });
}
