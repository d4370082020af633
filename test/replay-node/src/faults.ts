import { createHash } from 'node:crypto';

/** Faults of a whole HTTP answer. */
export const TRANSPORT_FAULTS = [
  'http429',
  'http500',
  'html',
  'reset',
  'hang',
  'truncate',
  'stall',
  'slow',
] as const;

/** Faults of one call's result. */
const RESULT_FAULTS = [
  'emptyReceipts',
  'nullReceipts',
  'emptyTraces',
  'nullBlock',
  'wrongBlock',
  'rpcError',
  'tamper',
] as const;

/**
 * What goes wrong.
 *
 * http429 (with Retry-After), http500, html (200 with a web page), reset (connection reset, no answer), hang (no
 * answer until close), truncate (half the body, then the connection ends), stall (half the body, then nothing),
 * slow (`ms` late); emptyReceipts and emptyTraces (`[]`), nullReceipts and nullBlock (`null`), wrongBlock (the
 * answer of a neighbouring block), rpcError (`code`, `message`), tamper (`value` at `path` of the result).
 */
export type FaultKind = (typeof TRANSPORT_FAULTS)[number] | (typeof RESULT_FAULTS)[number];

/** One scripted fault. */
export interface FaultRule {
  /** Which calls: all conditions must hold; without a method, the ones that the fault makes sense for. */
  when?: {
    method?: string;
    /** Number of the block that the call is about. */
    block?: number;
    /** The first matching call that is hit, counted from 1; default 1. */
    nth?: number;
    /** How many matching calls in a row are hit; default: one if `nth` is given, else all. */
    times?: number;
  };
  do: FaultKind;
  /** rpcError; default -32000 and `internal error`. */
  code?: number;
  message?: string;
  /** tamper: where, from the result on, such as `['transactions', 0, 'value']`. */
  path?: readonly (string | number)[];
  /** tamper: the value that is put there; a function gets the value that was there. */
  value?: unknown;
  /** slow: milliseconds; http429: becomes Retry-After, in whole seconds. Default 1000. */
  ms?: number;
}

/** Faults by chance: the same seed hits the same attempts of the same calls, in whatever order they come. */
export interface RandomFaults {
  seed: number;
  /** Probability per call, 0 to 1. */
  probability: Partial<Record<FaultKind, number>>;
  /** From this attempt of the same call on nothing goes wrong, so that whoever retries gets through; default 4. */
  cleanFromAttempt?: number;
}

/** The call that a fault may hit. */
interface FaultTarget {
  method: string;
  block: number | undefined;
  /** Tells calls of the same method apart. */
  key: string;
}

/** Scripted and random faults, and how often each struck. */
export interface FaultScript {
  add(...rules: FaultRule[]): void;
  /** Replaces the random faults; undefined ends them. */
  randomise(random: RandomFaults | undefined): void;
  clear(): void;
  /** Occurrences of each kind of fault. */
  hits(): Partial<Record<FaultKind, number>>;
  /** The faults that strike this call: of the scripted ones each that is due, else at most one by chance. */
  strike(target: FaultTarget): FaultRule[];
}

const RECEIPT_METHODS = ['eth_getBlockReceipts', 'eth_getTransactionReceipt'];
const BLOCK_METHODS = ['eth_getBlockByNumber', 'eth_getBlockByHash'];
const TRACE_METHODS = ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'];

/** The methods that a fault makes sense for; every method for the others. */
const SENSIBLE: Partial<Record<FaultKind, readonly string[]>> = {
  emptyReceipts: ['eth_getBlockReceipts'],
  nullReceipts: RECEIPT_METHODS,
  emptyTraces: TRACE_METHODS,
  nullBlock: BLOCK_METHODS,
  wrongBlock: [...BLOCK_METHODS, 'eth_getBlockReceipts', ...TRACE_METHODS],
};

/** Starts with these rules. */
export function createFaultScript(rules: readonly FaultRule[] = [], random?: RandomFaults): FaultScript {
  let scripted = rules.map((rule) => ({ rule, seen: 0 }));
  let chance = random;
  const attempts = new Map<string, number>();
  const counts: Partial<Record<FaultKind, number>> = {};
  const byChance = (target: FaultTarget): FaultRule[] => {
    if (chance === undefined) return [];
    const call = `${target.method}|${target.key}`;
    const attempt = (attempts.get(call) ?? 0) + 1;
    attempts.set(call, attempt);
    if (attempt >= (chance.cleanFromAttempt ?? 4)) return [];
    let left = draw(`${chance.seed}|${call}|${attempt}`);
    for (const [kind, probability] of Object.entries(chance.probability) as [FaultKind, number][]) {
      left -= probability;
      if (left < 0) return suits({ do: kind }, target) ? [{ do: kind, ms: 20 }] : [];
    }
    return [];
  };
  return {
    add: (...added) => {
      scripted.push(...added.map((rule) => ({ rule, seen: 0 })));
    },
    randomise: (next) => {
      chance = next;
    },
    clear: () => {
      scripted = [];
      chance = undefined;
    },
    hits: () => ({ ...counts }),
    strike(target) {
      const due = scripted
        .filter((entry) => suits(entry.rule, target))
        .filter((entry) => isDue(entry.rule, ++entry.seen))
        .map(({ rule }) => rule);
      const striking = due.length > 0 ? due : byChance(target);
      for (const { do: kind } of striking) counts[kind] = (counts[kind] ?? 0) + 1;
      return striking;
    },
  };
}

/** Whether the `seen`-th matching call is one that the rule hits. */
function isDue({ when = {} }: FaultRule, seen: number): boolean {
  const first = when.nth ?? 1;
  const times = when.times ?? (when.nth === undefined ? Number.POSITIVE_INFINITY : 1);
  return seen >= first && seen < first + times;
}

function suits({ when = {}, do: kind }: FaultRule, { method, block }: FaultTarget): boolean {
  if (when.block !== undefined && when.block !== block) return false;
  if (when.method !== undefined) return when.method === method;
  return SENSIBLE[kind]?.includes(method) ?? true;
}

function draw(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
