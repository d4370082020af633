import type { Answer, Json } from './encode.js';
import type { Random } from './random.js';

type Trace = Answer['traces'][number];

/** A transaction's tree of traces, without their places, and the addresses that could log in it. */
export interface MadeTree {
  traces: Trace[];
  contexts: string[];
}

const ERRORS = [
  'Reverted',
  'Out of gas',
  'execution reverted',
  'Bad instruction',
  'Mutable Call In Static Context',
];

/** The root of a transaction's tree. */
interface Root {
  tx: Json;
  failed: boolean;
  /** Of a transaction that creates a contract. */
  created: string | null;
}

/** Makes a tree of up to some ten calls in preorder, of all kinds, failed ones in the three shapes of nodes. */
export function makeTree(random: Random, { tx, failed, created }: Root): MadeTree {
  const traces: Trace[] = [];
  const contexts: string[] = [];
  let left = random.pick([0, 0, 1, 2, 4, 10]);

  const add = (trace: Trace, address: readonly number[], context: string, depth: number): void => {
    traces.push(trace);
    // a creation that failed names no contract that could have logged
    if (trace.type === 'call' || trace.error === undefined) contexts.push(context);
    const children = depth > 5 ? 0 : Math.min(left, random.int(4));
    left -= children;
    Object.assign(trace, { subtraces: children, traceAddress: address });
    for (let at = 0; at < children; at++) addInner(context, [...address, at], depth + 1);
  };

  const addInner = (from: string, address: readonly number[], depth: number) => {
    const isFailed = random.oneIn(5);
    const kind = random.int(12);
    if (kind === 0) {
      const action = { address: from, balance: random.quantity(64), refundAddress: random.data(20) };
      const trace = { action, result: null, subtraces: 0, traceAddress: address, type: 'suicide' };
      traces.push(random.oneIn(2) ? trace : withoutResult(trace));
    } else if (kind === 1) {
      const made = random.data(20);
      const init = random.data(random.int(80));
      const how = random.pick([{}, { creationMethod: 'create2' }, { creationMethod: 'create' }]);
      const action = { from, gas: random.quantity(40), value: random.quantity(64), ...how, init };
      add(creation(random, action, isFailed, made), address, made, depth);
    } else {
      const callType = random.pick(['call', 'call', 'call', 'staticcall', 'delegatecall', 'callcode']);
      const to = random.data(20);
      const value = callType === 'call' ? random.quantity(64) : '0x0';
      const input = random.data(random.pick([0, 4, 36, 68, random.int(100)]));
      const action = { callType, from, to, gas: random.quantity(40), value, input };
      const borrows = callType === 'delegatecall' || callType === 'callcode';
      add(call(random, action, isFailed), address, borrows ? from : to, depth);
    }
  };

  const { from, to, value, input } = tx;
  const gas = random.quantity(40);
  if (to === null) {
    const address = created ?? random.data(20);
    add(creation(random, { from, gas, value, init: input }, failed, address), [], address, 0);
  } else {
    const action = { callType: 'call', from, to, gas, value, input };
    add(call(random, action, failed), [], String(to), 0);
  }
  return { traces, contexts };
}

function call(random: Random, action: Json, failed: boolean): Trace {
  const result = { gasUsed: random.quantity(32), output: random.data(random.pick([0, 0, 32, 64, 9])) };
  return failed ? undone(random, { action, type: 'call' }, result) : { action, result, type: 'call' };
}

function creation(random: Random, action: Json, failed: boolean, address: string): Trace {
  const result = { gasUsed: random.quantity(32), address, code: random.data(random.int(80)) };
  if (!failed) return { action, result, type: 'create' };
  return undone(random, { action, type: 'create' }, random.oneIn(2) ? result : { gasUsed: '0x1' });
}

/** A call that failed has no result, null, or an object, by the make of its node. */
function undone(random: Random, trace: Trace, result: Json): Trace {
  const error = random.pick(ERRORS);
  return { ...trace, ...random.pick([{}, { result: null }, { result }]), error };
}

function withoutResult({ result: _, ...trace }: Trace): Trace {
  return trace as Trace;
}

/** The reward of a block, or of its uncle. */
export function makeReward(random: Random): Trace {
  return {
    action: {
      author: random.data(20),
      rewardType: random.pick(['block', 'uncle']),
      value: random.quantity(64),
    },
    ...random.pick([{}, { result: null }]),
    subtraces: 0,
    traceAddress: [],
    ...random.pick([{}, { transactionHash: null, transactionPosition: null }]),
    type: 'reward',
  };
}
