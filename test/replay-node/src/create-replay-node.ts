/**
 * The node:
 *
 *   HTTP request → rate limit → calls → faults of the results → latency → faults of the transport → bytes
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnswering, type ObservedCall } from './answer-request.js';
import { createFaultScript, type FaultRule, type FaultScript, type RandomFaults } from './faults.js';
import { createHeadFeed, type HeadFeed } from './head-feed.js';
import type { NodeCapabilities, NodeState } from './node-state.js';
import { createLine, createRateLimit, createTimers } from './pacer.js';
import { type RecordedAnswer, recordedAnswers } from './recorded-answers.js';
import type { RecordedBlock } from './recorded-block.js';
import { recordedChain } from './recorded-chain.js';
import type { ServedChain } from './served-chain.js';
import { createStatistics, type NodeStatistics } from './statistics.js';

/** Data and behaviour of a replay node. */
export interface ReplayNodeOptions {
  /** Recorded or generated blocks, or a chain made of them; absent: a node of another family, all answers recorded. */
  blocks?: readonly RecordedBlock[] | ServedChain;
  /** Recorded answers, before those made of the blocks. */
  answers?: readonly RecordedAnswer[];
  /** Default 1. */
  chainId?: number;
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** How long each HTTP answer waits, in milliseconds; default 0. */
  latencyMs?: number;
  /** Throughput of the line that all connections share; default: no limit. */
  bytesPerSecond?: number;
  /** HTTP requests a second beyond which the answer is 429; default: no limit. */
  requestsPerSecond?: number;
  /** The newest block that the node has; default: the chain's last. */
  head?: number;
  /** The finalized block, as a number or by its depth below the head; default: the head. */
  finalized?: number | { depth: number };
  /** Capabilities of the node; default: everything. */
  capabilities?: Partial<NodeCapabilities>;
  /** The most calls in a batch; default 1000, as geth. */
  batch?: { max: number };
  faults?: readonly FaultRule[];
  randomFaults?: RandomFaults;
  /** Told of every call before it is answered. */
  observe?: (call: ObservedCall) => void;
}

/** A running replay node. */
export interface ReplayNode {
  readonly url: string;
  readonly port: number;
  /** The same node over WebSocket, for subscriptions to new heads. */
  readonly wsUrl: string;
  readonly feed: HeadFeed;
  readonly faults: FaultScript;
  /** Moves the head: blocks above it do not exist yet. */
  setHead(number: number): void;
  setFinalized(finalized: number | { depth: number }): void;
  /** From now on it says that it is on another chain. */
  setChainId(chainId: number): void;
  /** Serves another chain from now on (a reorganisation); the head becomes its last block unless given. */
  setBlocks(blocks: readonly RecordedBlock[] | ServedChain, head?: number): void;
  stats(): NodeStatistics;
  /** Ends all connections, also those that hang, and all timers. */
  close(): Promise<void>;
}

const NO_CHAIN: ServedChain = {
  firstNumber: 0,
  lastNumber: 0,
  block: () => undefined,
  toNumber: () => undefined,
  locateTransaction: () => undefined,
};

const EVERYTHING: NodeCapabilities = {
  receiptsByBlock: true,
  receiptsByTransaction: true,
  traceBlock: true,
  debugFlat: true,
  debugCall: true,
  finalizedTag: true,
};

/** Starts a JSON-RPC node that serves blocks from memory. */
export async function createReplayNode(options: ReplayNodeOptions): Promise<ReplayNode> {
  const { host = '127.0.0.1', bytesPerSecond, requestsPerSecond } = options;
  const chain = options.blocks === undefined ? NO_CHAIN : asChain(options.blocks);
  const state: NodeState = {
    chain,
    chainId: options.chainId ?? 1,
    head: options.head ?? chain.lastNumber,
    finalized: options.finalized ?? { depth: 0 },
    capabilities: { ...EVERYTHING, ...options.capabilities },
    recorded: recordedAnswers(options.answers ?? []),
    hasBlocks: options.blocks !== undefined,
  };
  const timers = createTimers();
  const faults = createFaultScript(options.faults, options.randomFaults);
  const statistics = createStatistics();
  const answer = createAnswering({
    state,
    faults,
    timers,
    statistics,
    line: bytesPerSecond === undefined ? undefined : createLine(bytesPerSecond, timers),
    withinRate: requestsPerSecond === undefined ? () => true : createRateLimit(requestsPerSecond),
    latencyMs: options.latencyMs ?? 0,
    maxBatch: options.batch?.max ?? 1000,
    observe: options.observe ?? (() => undefined),
  });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    // A client that went away in the middle is no error of the node.
    answer(request, response).catch(() => response.destroy());
  });
  const feed = createHeadFeed(server, state);
  // Longer than any client keeps its side open: else a request could meet a connection that is just being closed.
  server.keepAliveTimeout = 600_000;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    wsUrl: `ws://${host}:${port}`,
    port,
    feed,
    faults,
    setHead(number) {
      state.head = Math.min(number, state.chain.lastNumber);
      feed.tell();
    },
    setFinalized(finalized) {
      state.finalized = finalized;
    },
    setChainId(chainId) {
      state.chainId = chainId;
    },
    setBlocks(blocks, head) {
      state.chain = asChain(blocks);
      state.head = head ?? state.chain.lastNumber;
      feed.tell();
    },
    stats: () => statistics.read(),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      timers.close();
      feed.drop(true);
      server.closeAllConnections();
      await closed;
    },
  };
}

function asChain(blocks: readonly RecordedBlock[] | ServedChain): ServedChain {
  return 'block' in blocks ? blocks : recordedChain(blocks);
}
