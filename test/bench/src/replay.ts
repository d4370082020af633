import type { Scope } from '@packhouse/local';
import { firstLine, startNode } from './child.js';

/** A replay node in a process of its own. */
export interface ReplayProcess {
  url: string;
  first: number;
  last: number;
}

/** Starts a replay node as its command line takes it, so that it does not share a thread with what is measured. */
export function startReplay(scope: Scope, args: readonly string[]): Promise<ReplayProcess> {
  return started(scope, 'test/replay-node/dist/main.js', args);
}

/** Starts a node that serves `length` generated blocks without transactions from block 1 on. */
export function startTinyReplay(scope: Scope, length: number, latencyMs: number): Promise<ReplayProcess> {
  return started(scope, 'test/bench/dist/tiny-node.js', [String(length), String(latencyMs)]);
}

async function started(scope: Scope, file: string, args: readonly string[]): Promise<ReplayProcess> {
  const line = await firstLine(startNode(scope, file, args), 'the replay node');
  const match = /^(\S+) serves blocks (\d+) to (\d+)$/.exec(line);
  if (match === null) throw new Error(`the replay node said: ${line}`);
  return { url: match[1] as string, first: Number(match[2]), last: Number(match[3]) };
}
