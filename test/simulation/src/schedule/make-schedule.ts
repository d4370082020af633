import { KINDS } from '@packhouse/chain';
import { createRandom, type Random } from '../random.js';
import { type Action, LIES, NODE_NAMES, type Port, type Step, type Who } from './action.js';

type Make = (random: Random) => Action;

const WHO: readonly (readonly [number, Who['role']])[] = [
  [5, 'ingester'],
  [4, 'packer'],
  [1, 'gateway'],
];
const someone = (random: Random): Who => ({ role: random.weighted(WHO), index: random.int(4) });
const someNode = (random: Random) => random.pick(NODE_NAMES);

const STORM_FAULTS = [
  'http429',
  'http500',
  'html',
  'reset',
  'truncate',
  'nullBlock',
  'nullReceipts',
] as const;
const LYING_FAULTS = ['emptyReceipts', 'emptyTraces', 'wrongBlock', 'rpcError'] as const;
const SLOW_FAULTS = ['hang', 'stall', 'slow'] as const;
const PG_CODES = ['53100', '40P01', '57014', '53300'] as const;
const PUT_FAULTS = [
  'slowDown',
  'resetBefore',
  'resetAfterWrite',
  'wrongChecksum',
  'noChecksum',
  'html',
] as const;
const READ_FAULTS = ['slowDown', 'resetBefore', 'missing', 'truncate', 'slow', 'html'] as const;

/** The world goes on: without it there would be nothing to disturb. */
const LIFE: readonly (readonly [number, Make])[] = [
  [40, (random) => ({ do: 'grow', blocks: random.between(1, 8) })],
  [25, (random) => ({ do: 'finalize', lag: random.between(2, 10) })],
  [12, (random) => ({ do: 'reorganise', share: random.unit(), extra: random.between(0, 3) })],
  [12, addBackfill],
  [
    8,
    (random) => ({
      do: 'setBackfill',
      pick: random.int(16),
      state: random.pick(['active', 'paused', 'cancelled']),
    }),
  ],
];

const FAULTS: readonly (readonly [number, Make])[] = [
  [9, (random) => storm(random, random.pick(STORM_FAULTS))],
  [3, (random) => storm(random, random.pick(LYING_FAULTS))],
  [5, (random) => trouble(random, random.pick(SLOW_FAULTS), 2)],
  [6, (random) => trouble(random, random.pick([...STORM_FAULTS, ...LYING_FAULTS]), 12)],
  [7, (random) => ({ do: 'nodeLie', node: someNode(random), lie: random.pick(LIES) })],
  [4, (random) => ({ do: 'nodeLag', blocks: random.between(1, 12) })],
  [3, () => ({ do: 'nodeFreeze' })],
  [2, (random) => ({ do: 'nodeChainId', node: someNode(random) })],
  [3, (random) => ({ do: 'nodeRestart', node: someNode(random) })],
  [8, () => ({ do: 'nodesCalm' })],
  [
    12,
    (random) => ({
      do: 'pgCut',
      who: someone(random),
      nth: random.between(1, 60),
      when: random.pick(['before', 'after']),
    }),
  ],
  [
    8,
    (random) => ({
      do: 'pgError',
      who: someone(random),
      nth: random.between(1, 60),
      code: random.pick(PG_CODES),
    }),
  ],
  [4, (random) => ({ do: 'pgTerminate', share: random.pick([0.3, 0.6, 1]) })],
  [2, (random) => ({ do: 'pgRestart', how: random.pick(['fast', 'immediate', 'kill']) })],
  [4, (random) => ({ do: 'pgLocks', ms: random.between(300, 2_000) })],
  [3, () => ({ do: 'pgDeadlock' })],
  [8, (random) => storeTrouble(random, 'PUT')],
  [6, (random) => storeTrouble(random, random.pick(['GET', 'HEAD']))],
  [4, () => ({ do: 'queueWipe' })],
  [2, () => ({ do: 'queueDrop' })],
  [3, (random) => ({ do: 'queueDelete', share: random.pick([0.2, 0.5, 1]) })],
  [4, () => ({ do: 'queueLoseLocks' })],
  [4, () => ({ do: 'queueTwice' })],
  [5, (random) => ({ do: 'kill', who: someone(random) })],
  [12, killAt],
  [4, (random) => ({ do: 'pause', who: someone(random), ms: random.pick([500, 2_000, 2_000, 15_000]) })],
  [4, (random) => ({ do: 'terminate', who: someone(random) })],
  [2, (random) => ({ do: 'rolling', ingesters: random.between(1, 3), packers: random.between(1, 3) })],
];

/** The steps that a seed stands for: nothing but the seed and their number decides them. */
export function makeSchedule(seed: number, steps: number): Step[] {
  const random = createRandom(seed);
  return Array.from({ length: steps }, (_, at): Step => {
    // Something to disturb comes first.
    const from = at < 2 || random.int(2) === 0 ? LIFE : FAULTS;
    const action = random.weighted(from)(random);
    return { action, thenMs: random.between(50, 700) };
  });
}

function addBackfill(random: Random): Action {
  const [from, to] = [random.unit(), random.unit()].sort((a, b) => a - b) as [number, number];
  const kinds = KINDS.filter(() => random.int(2) === 0);
  return {
    do: 'addBackfill',
    from,
    to,
    kinds: kinds.length === 0 ? [...KINDS] : kinds,
    priority: random.between(1, 9),
  };
}

function storm(random: Random, fault: (typeof STORM_FAULTS | typeof LYING_FAULTS)[number]): Action {
  return {
    do: 'nodeStorm',
    node: someNode(random),
    fault,
    probability: random.pick([0.1, 0.3, 0.7]),
    seed: random.int(2 ** 31),
  };
}

function trouble(
  random: Random,
  fault: (typeof STORM_FAULTS | typeof LYING_FAULTS | typeof SLOW_FAULTS)[number],
  most: number,
): Action {
  return { do: 'nodeTrouble', node: someNode(random), fault, times: random.between(1, most) };
}

function storeTrouble(random: Random, method: 'PUT' | 'GET' | 'HEAD'): Action {
  const fault = method === 'PUT' ? random.pick(PUT_FAULTS) : random.pick(READ_FAULTS);
  return { do: 'storeTrouble', method, fault, nth: random.between(1, 6) };
}

function killAt(random: Random): Action {
  const port = random.weighted<Port>([
    [6, 'postgres'],
    [2, 'node'],
    [2, 'store'],
  ]);
  const role = port === 'node' ? 'ingester' : port === 'store' ? 'packer' : someone(random).role;
  const most = port === 'postgres' ? 80 : port === 'node' ? 40 : 4;
  return {
    do: 'killAt',
    who: { role, index: random.int(4) },
    port,
    nth: random.between(1, most),
    when: random.pick(['before', 'after']),
  };
}
