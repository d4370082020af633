import type { Clock } from '@packhouse/runtime';
import { type Fault, isFault } from '../upstream/fault.js';
import type { Call } from './call.js';

/** The facts of a block that are used to ask for and check its receipts and traces. */
export interface BlockFacts {
  number: number;
  hash: string;
  /** How many it has. */
  transactions: number;
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

/** The capabilities of one upstream, learned by asking, in the order of the lists below. */
export interface Capabilities {
  receipts: Capability<Mode>;
  traces: Capability<TraceMode>;
  /** Whether the `finalized` tag is known; null until asked. */
  finalizedTag: boolean | null;
}

/** The best way that was not refused yet. */
export interface Capability<M extends Mode> {
  /** The way to ask; null for a minute after every way was refused: a method may be enabled at any time. */
  readonly mode: M | null;
  /** Whether it has been answered. */
  readonly confirmed: boolean;
  confirm(mode: M): void;
  /** Selects the next way if `mode` is still current; a way of another method if this method is missing. */
  demote(mode: M, methodMissing: boolean): void;
  /** Forgets the refusals. */
  reset(): void;
}

const hex = (number: number): string => `0x${number.toString(16)}`;

/**
 * By hash first, so that a reorganisation between two calls cannot mix two blocks. The EIP-1898 object is for upstreams
 * that accept no bare hash.
 */
const RECEIPT_MODES: readonly Mode[] = [
  receiptsMode('eth_getBlockReceipts by hash', (block) => block.hash),
  receiptsMode('eth_getBlockReceipts by hash object', (block) => ({ blockHash: block.hash })),
  receiptsMode('eth_getBlockReceipts by number', (block) => hex(block.number)),
  {
    name: 'eth_getTransactionReceipt',
    method: 'eth_getTransactionReceipt',
    calls: (block) => {
      const hashes = block.hashes();
      if (isFault(hashes)) return hashes;
      return hashes.map((hash) => ({
        method: 'eth_getTransactionReceipt',
        params: [hash],
        block: block.number,
        weight: 1,
        oversize: 'assemble',
      }));
    },
  },
];

/** trace_block takes only a number: its answer is compared with the block's hash. */
const TRACE_MODES: readonly TraceMode[] = [
  {
    name: 'trace_block',
    method: 'trace_block',
    shape: 'trace_block',
    calls: (block) => [
      {
        method: 'trace_block',
        params: [hex(block.number)],
        block: block.number,
        weight: weigh(block),
        oversize: 'elements',
        raw: true,
      },
    ],
  },
  debugMode('flatCallTracer', { convertParityErrors: true }),
  debugMode('callTracer', {}),
];

function receiptsMode(name: string, key: (block: BlockFacts) => unknown): Mode {
  return {
    name,
    method: 'eth_getBlockReceipts',
    calls: (block) => [
      {
        method: 'eth_getBlockReceipts',
        params: [key(block)],
        block: block.number,
        weight: weigh(block),
        oversize: 'assemble',
        raw: true,
      },
    ],
  };
}

function debugMode(tracer: 'flatCallTracer' | 'callTracer', tracerConfig: object): TraceMode {
  return {
    name: `debug_traceBlockByHash with ${tracer}`,
    method: 'debug_traceBlockByHash',
    shape: tracer,
    calls: (block) => {
      // Its answer is compared with them.
      const hashes = block.hashes();
      if (isFault(hashes)) return hashes;
      const params = [block.hash, { tracer, tracerConfig }];
      const { number } = block;
      const weight = weigh(block);
      return [{ method: 'debug_traceBlockByHash', params, block: number, weight, oversize: 'elements' }];
    },
  };
}

/** Answers grow with the number of transactions; even an empty block has an envelope. */
function weigh(block: BlockFacts): number {
  return 1 + block.transactions;
}

/** The capabilities of an upstream that was not asked yet: the best ways, until it refuses them. */
export function createCapabilities(clock: Clock): Capabilities {
  return {
    receipts: createCapability(RECEIPT_MODES, clock),
    traces: createCapability(TRACE_MODES, clock),
    finalizedTag: null,
  };
}

/** How long an upstream that refused every way is not asked again, in milliseconds. */
const REFUSED_MS = 60_000;

function createCapability<M extends Mode>(modes: readonly M[], clock: Clock): Capability<M> {
  let refusedUntil = 0;
  let index = 0;
  let confirmed = false;
  return {
    get mode() {
      if (index >= modes.length && clock.elapsed() >= refusedUntil) index = 0;
      return modes[index] ?? null;
    },
    get confirmed() {
      return confirmed;
    },
    confirm: (mode) => {
      if (modes[index] === mode) confirmed = true;
    },
    demote: (mode, methodMissing) => {
      if (modes[index] !== mode) return;
      do index += 1;
      while (methodMissing && modes[index]?.method === mode.method);
      confirmed = false;
      if (index >= modes.length) refusedUntil = clock.elapsed() + REFUSED_MS;
    },
    reset: () => {
      index = 0;
      confirmed = false;
    },
  };
}
