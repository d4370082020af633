import { toQuantity } from '@packhouse/chain';
import { systemClock } from '@packhouse/runtime';
import { vi } from 'vitest';
import { createForwarder } from '../src/forward/create-forwarder.js';
import type { Forwarder } from '../src/forward/forwarder.js';
import type { ForwardAnswer, ForwardRequest } from '../src/forward/send/forward-request.js';
import { ForwardUpstream } from '../src/forward/send/forward-upstream.js';
import type { TryOutcome } from '../src/forward/send/judge-answer.js';
import type { SharedTips } from '../src/forward/tip/shared-tips.js';
import type { NodeFinding } from '../src/heads/final-branches.js';
import { call } from './test-forwarder.js';
import { type TestContext, testContext, testNetwork, testUpstream } from './test-source.js';

/** A node in this process: its chain, and what it does with it. */
export interface ChainNode {
  name: string;
  head: number;
  final: number | null;
  /** Its blocks from this number on are those of a branch of this name. */
  branch: { from: number; name: string } | null;
  alive: boolean;
  chainId: number;
  /** How often it was asked for a header by its number. */
  headers: number;
}

/** The hash of a block on a branch; null: the chain that all have. */
export function hashOf(number: number, branch: ChainNode['branch'] = null): string {
  const name = branch !== null && number >= branch.from ? branch.name : '';
  return `0x${Buffer.from(`${name} ${number}`).toString('hex').padStart(64, '0')}`;
}

export function chainNode(changes: Partial<ChainNode> = {}): ChainNode {
  return {
    name: 'node',
    head: 100,
    final: 90,
    branch: null,
    alive: true,
    chainId: 1,
    headers: 0,
    ...changes,
  };
}

function answer(node: ChainNode, { method, params }: ForwardRequest): unknown {
  const [of] = JSON.parse(params) as [unknown];
  if (method === 'eth_chainId') return toQuantity(node.chainId);
  if (method === 'eth_blockNumber') return toQuantity(node.head);
  const number = of === 'latest' ? node.head : of === 'finalized' ? node.final : Number(of);
  if (typeof of === 'string' && of.startsWith('0x')) node.headers += 1;
  if (number === null || number > node.head) return null;
  return {
    number: toQuantity(number),
    hash: hashOf(number, node.branch),
    parentHash: hashOf(number - 1, node.branch),
  };
}

/**
 * A forwarder to nodes of this process: no socket is opened. Use it with fake timers: time is what the test says.
 */
export function forwarderToChains(
  nodes: readonly ChainNode[],
  tips?: SharedTips,
): {
  forwarder: Forwarder;
  context: TestContext;
  findings: NodeFinding[];
} {
  vi.spyOn(ForwardUpstream.prototype, 'tryOnce').mockImplementation(async function (
    this: ForwardUpstream,
    request,
    signal,
  ): Promise<TryOutcome> {
    if (signal.aborted) throw signal.reason;
    const node = nodes.find(({ name }) => name === this.name) as ChainNode;
    await Promise.resolve();
    if (!node.alive) return { kind: 'elsewhere', reason: 'unavailable', detail: 'it is dead', unsent: true };
    const bytes = Buffer.from(JSON.stringify(answer(node, request)));
    return { kind: 'result', body: { bytes, rest: null }, upstream: this.name };
  });
  const context = testContext(systemClock);
  const findings: NodeFinding[] = [];
  const upstreams = nodes.map(({ name }, at) => testUpstream('http://127.0.0.1:1', { name, priority: at }));
  const network = testNetwork(upstreams, { pollIntervalMs: POLL_MS });
  const forwarder = createForwarder({
    network,
    context,
    onFinding: (finding) => findings.push(finding),
    ...(tips === undefined ? {} : { tips }),
  });
  return { forwarder, context, findings };
}

/** The interval at which the heads of these nodes are polled. */
export const POLL_MS = 100;

/** Lets the time go on until a call for a block is answered. */
export async function ask(forwarder: Forwarder, block: number | 'latest'): Promise<ForwardAnswer> {
  const at = block === 'latest' ? block : `0x${block.toString(16)}`;
  let settled = false;
  const asked = call(forwarder, {
    method: 'eth_getBlockByNumber',
    params: JSON.stringify([at, false]),
    block: block === 'latest' ? 'tip' : block,
    crossCheck: 'existence',
    timeoutMs: 400,
    resultBlock:
      block === 'latest' ? (bytes) => Number((JSON.parse(String(bytes)) as Told | null)?.number) : undefined,
  }).finally(() => {
    settled = true;
  });
  while (!settled) await vi.advanceTimersByTimeAsync(POLL_MS);
  return asked;
}

type Told = { number: string; hash: string };

/** The block in an answer; null: it is refused. */
export function told(answer: ForwardAnswer): Told | null {
  return answer.kind === 'result' ? (JSON.parse(answer.body.bytes.toString()) as Told | null) : null;
}

/** Numbers that follow from a seed (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
