import type { Network, Upstream } from '@packhouse/networks';
import { type CallSignal, type Clock, type Context, createLogger, createMetrics } from '@packhouse/runtime';
import { afterEach } from 'vitest';
import type { FailedBlock, FetchedBlock } from '../src/blocks/block-source.js';
import { type BlockSourceOptions, createBlockSource } from '../src/blocks/create-block-source.js';
import { type Handler, type ScriptedNode, startScriptedNode } from './scripted-node.js';

/** A clock on which sleeping takes no time: the clock jumps instead. */
interface JumpingClock extends Clock {
  slept: number[];
  jump(ms: number): void;
  /** Sets the date back; what has elapsed goes on. */
  setBack(ms: number): void;
}

export function jumpingClock(): JumpingClock {
  let skew = 0;
  let back = 0;
  const slept: number[] = [];
  return {
    slept,
    jump: (ms) => {
      skew += ms;
    },
    setBack: (ms) => {
      back += ms;
    },
    now: () => Date.now() + skew - back,
    elapsed: () => performance.now() + skew,
    sleep: async (ms, signal) => {
      refuseAborted(signal);
      slept.push(ms);
      skew += ms;
      await new Promise<void>((resolve) => setImmediate(resolve));
      refuseAborted(signal);
    },
  };
}

export interface TestContext extends Context {
  clock: JumpingClock;
  lines: string[];
}

export function testContext(clock: Clock = jumpingClock()): TestContext {
  const lines: string[] = [];
  return {
    logger: createLogger({
      name: 'test',
      level: 'debug',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics: createMetrics(),
    clock: clock as JumpingClock,
    signal: new AbortController().signal,
    lines,
  };
}

export function testUpstream(url: string, changes: Partial<Upstream> = {}): Upstream {
  return { name: 'main', url, provider: 'test', headers: {}, priority: 1, maxInFlight: 16, ...changes };
}

export function testNetwork(upstreams: Upstream[], changes: Partial<Network> = {}): Network {
  return {
    id: 'testnet',
    family: 'evm',
    chainId: 1,
    upstreams,
    finality: { tag: true, depth: 64 },
    pollIntervalMs: 1_000,
    proofs: {} as Network['proofs'],
    rpc: {} as Network['rpc'],
    bundles: { enabled: true, kinds: ['blocks'], maxBytes: 1_000_000, maxBlocks: 1_024 },
    ...changes,
  };
}

/** A source on a context of its own, with a clock that jumps. */
export function testSource(
  upstreams: Upstream[],
  options: Partial<BlockSourceOptions> & { changes?: Partial<Network> } = {},
) {
  const context = options.context ?? testContext();
  const { changes, ...rest } = options;
  return {
    context,
    source: createBlockSource({
      timeoutMs: 5_000,
      ...rest,
      network: testNetwork(upstreams, changes),
      context,
    }),
  };
}

/** All of a range. */
export async function collect(
  blocks: AsyncIterable<FetchedBlock | FailedBlock>,
): Promise<(FetchedBlock | FailedBlock)[]> {
  const all: (FetchedBlock | FailedBlock)[] = [];
  for await (const block of blocks) all.push(block);
  return all;
}

export function isFetched(block: FetchedBlock | FailedBlock): block is FetchedBlock {
  return !('error' in block);
}

function refuseAborted(signal: CallSignal | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}

/** The functions that close what a test opens: called after it, the last one first. */
export function useClosers(): (() => Promise<unknown>)[] {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return closers;
}

/** Nodes and sources of one test, closed after it. */
export function useNodes() {
  const closers = useClosers();
  return {
    node: async (handler: Handler): Promise<ScriptedNode> => {
      const node = await startScriptedNode(handler);
      closers.push(() => node.close());
      return node;
    },
    source: (...parts: Parameters<typeof testSource>): ReturnType<typeof testSource> => {
      const made = testSource(...parts);
      closers.push(() => made.source.close());
      return made;
    },
  };
}
