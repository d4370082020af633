import type { Kind } from '@packhouse/chain';
import type { FaultKind } from '@packhouse/replay-node';
import type { ScriptedS3Fault } from '@packhouse/scripted-s3';

/** The processes of the system, by what they run. */
export type Role = 'gateway' | 'ingester' | 'packer';

/** One of the processes of a role: the index counts modulo how many run. */
export interface Who {
  role: Role;
  index: number;
}

/** The three nodes of the network, by their vice. */
export const NODE_NAMES = ['honest', 'lagging', 'lying'] as const;
export type NodeName = (typeof NODE_NAMES)[number];

/** What a node says that is not so; each is caught by a proof. */
export const LIES = [
  'gasUsed',
  'stateRoot',
  'transactionValue',
  'transactionInput',
  'receiptStatus',
  'cumulativeGas',
  'logData',
  'logAddress',
  'traceTo',
] as const;
export type Lie = (typeof LIES)[number];

/** Where the n-th message is waited for. */
export type Port = 'postgres' | 'node' | 'store';

/** What happens in one step. Shares are 0 to 1 of what there is at that moment. */
export type Action =
  | { do: 'grow'; blocks: number }
  | { do: 'finalize'; lag: number }
  | { do: 'reorganise'; share: number; extra: number }
  | { do: 'addBackfill'; from: number; to: number; kinds: Kind[]; priority: number }
  | { do: 'setBackfill'; pick: number; state: 'active' | 'paused' | 'cancelled' }
  | { do: 'nodeStorm'; node: NodeName; fault: FaultKind; probability: number; seed: number }
  | { do: 'nodeTrouble'; node: NodeName; fault: FaultKind; times: number }
  | { do: 'nodeLie'; node: NodeName; lie: Lie }
  | { do: 'nodeLag'; blocks: number }
  | { do: 'nodeFreeze' }
  | { do: 'nodeChainId'; node: NodeName }
  | { do: 'nodeRestart'; node: NodeName }
  | { do: 'nodesCalm' }
  | { do: 'pgCut'; who: Who; nth: number; when: 'before' | 'after' }
  | { do: 'pgError'; who: Who; nth: number; code: '53100' | '40P01' | '57014' | '53300' }
  | { do: 'pgTerminate'; share: number }
  | { do: 'pgRestart'; how: 'fast' | 'immediate' | 'kill' }
  | { do: 'pgLocks'; ms: number }
  | { do: 'pgDeadlock' }
  | { do: 'storeTrouble'; method: 'PUT' | 'GET' | 'HEAD'; fault: ScriptedS3Fault; nth: number }
  | { do: 'queueWipe' }
  | { do: 'queueDrop' }
  | { do: 'queueDelete'; share: number }
  | { do: 'queueLoseLocks' }
  | { do: 'queueTwice' }
  | { do: 'kill'; who: Who }
  | { do: 'killAt'; who: Who; port: Port; nth: number; when: 'before' | 'after' }
  | { do: 'pause'; who: Who; ms: number }
  | { do: 'terminate'; who: Who }
  | { do: 'rolling'; ingesters: number; packers: number };

/** One step: what happens, and how long the world then goes on by itself, in milliseconds. */
export interface Step {
  action: Action;
  thenMs: number;
}
