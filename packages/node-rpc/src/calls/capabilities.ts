import { toQuantity } from '@packhouse/chain';
import type { Clock } from '@packhouse/runtime';
import { type Fault, isFault } from '../upstream/fault.js';
import type { Call } from './call.js';

/** The facts of a block that are used to ask for and check its receipts and traces. */
export interface BlockFacts {
  number: number;
  hash: string;
  /** How many it has. */
  transactions: number;
  /** Whether it may have fewer receipts, by the rules of its chain. */
  mayLackReceipts?: boolean;
  /** Their hashes; a fault if they are not there. It may have to parse them first. */
  hashes(): readonly string[] | Fault;
}

/** One way to ask for the receipts or traces of a block. */
export interface Mode {
  /** For logs and tables. */
  name: string;
  method: string;
  /** The calls that return them all: one, or one per transaction; a fault if the block lacks what they need. */
  calls(block: BlockFacts): Call[] | Fault;
}

export interface TraceMode extends Mode {
  shape: 'trace_block' | 'flatCallTracer' | 'callTracer';
}

/** The best way that was not refused yet. */
export type Capability<M extends Mode> = ReturnType<typeof createCapability<M>>;

/** A call for each transaction: the last way, and that of a block of which the node does not give all at once. */
export const RECEIPT_MODE_BY_TRANSACTION: Mode = {
  name: 'eth_getTransactionReceipt',
  method: 'eth_getTransactionReceipt',
  calls: (block) => {
    const hashes = block.hashes();
    if (isFault(hashes)) return hashes;
    const call = {
      method: 'eth_getTransactionReceipt',
      block: block.number,
      weight: 1,
      oversize: 'assemble',
    } as const;
    return hashes.map((hash) => ({ ...call, params: [hash] }));
  },
};

/**
 * By hash first, so that a reorganisation between two calls cannot mix two blocks. The EIP-1898 object is for upstreams
 * that accept no bare hash.
 */
const RECEIPT_MODES: readonly Mode[] = [
  receiptsMode('eth_getBlockReceipts by hash', (block) => block.hash),
  receiptsMode('eth_getBlockReceipts by hash object', (block) => ({ blockHash: block.hash })),
  receiptsMode('eth_getBlockReceipts by number', (block) => toQuantity(block.number)),
  RECEIPT_MODE_BY_TRANSACTION,
];

/** trace_block takes only a number: its answer is compared with the block's hash. */
const TRACE_MODES: readonly TraceMode[] = [
  {
    name: 'trace_block',
    method: 'trace_block',
    shape: 'trace_block',
    calls: (block) => [
      { ...toCall('trace_block', block, [toQuantity(block.number)]), oversize: 'elements', raw: true },
    ],
  },
  // Without convertParityErrors, which would give several failures one name, and with calls of built-in contracts, of which
  // it would leave out those that move value.
  debugMode('flatCallTracer', { includePrecompiles: true }),
  debugMode('callTracer', {}),
];

function receiptsMode(name: string, key: (block: BlockFacts) => unknown): Mode {
  const method = 'eth_getBlockReceipts';
  return {
    name,
    method,
    calls: (block) => [{ ...toCall(method, block, [key(block)]), oversize: 'assemble', raw: true }],
  };
}

function debugMode(tracer: 'flatCallTracer' | 'callTracer', tracerConfig: object): TraceMode {
  const method = 'debug_traceBlockByHash';
  return {
    name: `${method} with ${tracer}`,
    method,
    shape: tracer,
    calls: (block) => {
      // Its answer is compared with them.
      const hashes = block.hashes();
      if (isFault(hashes)) return hashes;
      return [{ ...toCall(method, block, [block.hash, { tracer, tracerConfig }]), oversize: 'elements' }];
    },
  };
}

/** Answers grow with the number of transactions; even an empty block has an envelope. */
function toCall(method: string, { number, transactions }: BlockFacts, params: unknown[]): Call {
  return { method, params, block: number, weight: 1 + transactions };
}

/** The capabilities of an upstream, learned by asking in the order of the lists: the best ways, until it refuses them. */
export function createCapabilities(clock: Clock) {
  return {
    receipts: createCapability(RECEIPT_MODES, clock),
    traces: createCapability(TRACE_MODES, clock),
    /** Whether the `finalized` tag is known; null until asked. */
    finalizedTag: null as boolean | null,
  };
}

/** How long an upstream that refused every way is not asked again, in milliseconds. */
const REFUSED_MS = 60_000;

function createCapability<M extends Mode>(modes: readonly M[], clock: Clock) {
  let refusedUntil = 0;
  let index = 0;
  let confirmed = false;
  return {
    /** The way to ask; null for a minute after every way was refused: a method may be enabled at any time. */
    get mode(): M | null {
      if (index >= modes.length && clock.elapsed() >= refusedUntil) index = 0;
      return modes[index] ?? null;
    },
    /** Whether it has been answered. */
    get confirmed(): boolean {
      return confirmed;
    },
    confirm(mode: M): void {
      if (modes[index] === mode) confirmed = true;
    },
    /** Selects the next way if `mode` is still current; a way of another method if this method is missing. */
    demote(mode: M, methodMissing: boolean): void {
      if (modes[index] !== mode) return;
      do index += 1;
      while (methodMissing && modes[index]?.method === mode.method);
      confirmed = false;
      if (index >= modes.length) refusedUntil = clock.elapsed() + REFUSED_MS;
    },
    /** Forgets the refusals. */
    reset: (): void => {
      index = 0;
      confirmed = false;
    },
  };
}
