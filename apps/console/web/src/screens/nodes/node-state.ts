import type { Answer } from '../../lib/answers.js';
import { pluralize } from '../../lib/format.js';

export type Node = Answer<'nodes'>[number];
type State = Node['processes'][number]['state'];

/** What a node can be at, the worst first. */
type NodeConditionName =
  | 'silent'
  | 'another-chain'
  | 'distrusted'
  | 'wrong-response'
  | 'left-out'
  | 'another-branch'
  | 'resting'
  | 'behind'
  | 'cordoned'
  | 'unused'
  | 'ok';

type Look = Pick<NodeCondition, 'tone' | 'words'>;

/** How each looks, in the order of the list. */
export const NODE_CONDITIONS: Readonly<Record<NodeConditionName, Look>> = {
  silent: { tone: 'bad', words: 'Not answering' },
  'another-chain': { tone: 'bad', words: 'Wrong chain' },
  distrusted: { tone: 'bad', words: 'Failed a proof' },
  'wrong-response': { tone: 'bad', words: 'Wrong response' },
  'left-out': { tone: 'bad', words: 'Different finalized block' },
  'another-branch': { tone: 'wait', words: 'On another branch' },
  resting: { tone: 'wait', words: 'Backing off' },
  behind: { tone: 'wait', words: 'Behind' },
  cordoned: { tone: 'off', words: 'Cordoned' },
  unused: { tone: 'off', words: 'Not in use' },
  ok: { tone: 'good', words: 'Active' },
};
const ORDER = Object.keys(NODE_CONDITIONS);

/** What a node is at, in a few words, with its rank: the worst first. */
interface NodeCondition {
  name: NodeConditionName;
  rank: number;
  tone: 'good' | 'wait' | 'bad' | 'off';
  words: string;
  /** Why, or what follows from it. */
  why: string | null;
  /** null: not known. */
  since: string | null;
  /** When it is tried again; null: not known, or never. */
  until: string | null;
}

/** Whether it needs an operator. */
export const needsAction = ({ tone }: NodeCondition): boolean => tone === 'bad' || tone === 'wait';

/** Blocks behind the best node of its network from which on it is named. */
const MIN_LAG = 10;

/** The worst of what is known of a node. */
export function getCondition(node: Node): NodeCondition {
  const { cordon, failedBlocks, failedSince, lag, lastError, leftOut, processes, retryAt, silentSince } =
    node;
  const make = (name: NodeConditionName, more: Partial<NodeCondition> = {}): NodeCondition => {
    const none = { why: null, since: null, until: null };
    return { name, rank: ORDER.indexOf(name), ...NODE_CONDITIONS[name], ...none, ...more };
  };
  /** What it is to the process that saw it so first; undefined: to none. */
  const at = (state: State): { since: string | null } | undefined => {
    const seen = processes.filter((each) => each.state === state);
    const times = seen.flatMap(({ since }) => since ?? []).sort();
    return seen.length === 0 ? undefined : { since: times[0] ?? null };
  };
  if (cordon !== null) return make('cordoned', { since: cordon.at });
  if (processes.length === 0)
    return make('unused', { why: 'It is in the networks file, but no process uses it.' });
  if (silentSince !== null) return make('silent', { why: lastError, since: silentSince });
  const chain = at('another-chain');
  if (chain !== undefined) return make('another-chain', { ...chain, why: 'It is not used.' });
  const distrusted = at('distrusted');
  if (distrusted !== undefined) return make('distrusted', { ...distrusted, why: 'It is used last.' });
  if (failedBlocks.length > 0) return make('wrong-response', { since: failedSince, until: retryAt });
  const out = at('left-out');
  if (out !== undefined) return make('left-out', { ...out, why: leftOut ?? 'It is not used.' });
  const branch = at('another-branch');
  if (branch !== undefined) return make('another-branch', { ...branch, why: 'It is used last.' });
  const resting = at('resting');
  if (resting !== undefined) return make('resting', { ...resting, why: lastError });
  if (lag !== null && lag >= MIN_LAG)
    return make('behind', { why: `It is ${pluralize(lag, 'block')} behind the highest node.` });
  return make('ok');
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
