import { type Program, plainEnvironment, type Scope, startProgram } from '@packhouse/local';

/** Starts a built program of the project, given from its root; it ends with the scope at the latest. */
export function startNode(
  scope: Scope,
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  { readStdout = true }: { readStdout?: boolean } = {},
): Program {
  const all = { ...plainEnvironment(process.env), ...env };
  return startProgram(file, args, { scope, env: all, messages: true, readStdout });
}
