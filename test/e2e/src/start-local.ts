import type { Program } from '@packhouse/local';
import { startCli } from './cli-process.js';
import type { Workspace } from './workspace.js';

interface LocalRun {
  /** Addresses for --rpc; none: what the environment says. */
  rpc?: readonly string[];
  from: number;
  /** Left out: the head is followed. */
  to?: number;
  /** Default: where there is an end. */
  once?: boolean;
  /** Default: JSON lines. */
  json?: boolean;
  env?: Record<string, string>;
}

/** Starts `packhouse local` in a workspace. */
export function startLocal(workspace: Workspace, run: LocalRun): Program {
  const args = ['local', '--data-dir', workspace.directory, '--from', String(run.from)];
  for (const url of run.rpc ?? []) args.push('--rpc', url);
  if (run.to !== undefined) args.push('--to', String(run.to));
  if (run.once ?? run.to !== undefined) args.push('--once');
  if (run.json ?? true) args.push('--json');
  return startCli(args, { env: { ...workspace.env, ...run.env } });
}
