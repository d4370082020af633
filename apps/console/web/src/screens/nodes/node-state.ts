import type { Answer } from '../../lib/answers.js';

export type Node = Answer<'nodes'>[number];
type State = Node['processes'][number]['state'];

/** What a node is at, in a few words, with its rank: the worst first. */
export interface NodeCondition {
  rank: number;
  tone: 'good' | 'wait' | 'bad' | 'off';
  words: string;
  /** Why, or what follows from it. */
  why: string | null;
}

export const STATES: Readonly<Record<State, string>> = {
  ok: 'active',
  resting: 'backing off after failures',
  'another-chain': 'wrong chain: not used',
  'left-out': 'another final block: not used',
  'another-branch': 'on another branch: used last',
  distrusted: 'failed a proof: used last',
  cordoned: 'cordoned',
};

/** Blocks behind the best node of its network from which on it is named. */
const MIN_LAG = 10;

/** The worst of what is known of a node. */
export function getCondition(node: Node): NodeCondition {
  const { cordon, failedBlocks, lag, lastError, leftOut, processes, silentSince } = node;
  const states = new Set(processes.map(({ state }) => state));
  const bad = (rank: number, words: string, why: string | null): NodeCondition => {
    return { rank, tone: 'bad', words, why };
  };
  if (cordon !== null) return { rank: 7, tone: 'off', words: 'Cordoned', why: null };
  if (processes.length === 0) return { rank: 8, tone: 'off', words: 'Not in use', why: null };
  if (silentSince !== null) return bad(0, 'Not answering', lastError);
  if (states.has('another-chain')) return bad(1, 'Wrong chain', 'It is not used.');
  if (states.has('distrusted')) return bad(2, 'Failed a proof', 'It is used last.');
  if (failedBlocks.length > 0) return bad(2, 'Wrong response', null);
  if (states.has('left-out')) return bad(3, 'Another final block', leftOut ?? 'It is not used.');
  const wait = (rank: number, words: string, why: string | null): NodeCondition => {
    return { rank, tone: 'wait', words, why };
  };
  if (states.has('another-branch')) return wait(4, 'On another branch', 'It is used last.');
  if (states.has('resting')) return wait(5, 'Backing off', lastError);
  if (lag !== null && lag >= MIN_LAG) return wait(6, 'Behind', null);
  return { rank: 9, tone: 'good', words: 'Active', why: null };
}

/** Mean time of an answer over all methods, in milliseconds; null: there was none. */
export function getLatency({ methods }: Pick<Node, 'methods'>): number | null {
  const timed = methods.flatMap(({ calls, ms }) => (ms === null ? [] : [{ calls, ms }]));
  const calls = timed.reduce((sum, each) => sum + each.calls, 0);
  return calls === 0 ? null : timed.reduce((sum, each) => sum + each.ms * each.calls, 0) / calls;
}

/** Calls of the last five minutes, and the share of them that failed; null: there were none. */
export function getCalls({ errors, methods }: Pick<Node, 'errors' | 'methods'>) {
  const calls = methods.reduce((sum, each) => sum + each.calls, 0);
  const failed = errors.reduce((sum, each) => sum + each.calls, 0);
  return { calls, failed, share: calls === 0 ? null : Math.min(1, failed / calls) };
}
