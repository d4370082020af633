import { toQuantity } from '@packhouse/chain';
import { systemClock } from '@packhouse/runtime';
import { vi } from 'vitest';
import { createForwarder } from '../src/forward/create-forwarder.js';
import type { Forwarder } from '../src/forward/forwarder.js';
import type { ForwardRequest } from '../src/forward/send/forward-request.js';
import { ForwardUpstream } from '../src/forward/send/forward-upstream.js';
import type { TryOutcome } from '../src/forward/send/judge-answer.js';
import type { NodeFinding } from '../src/heads/final-branches.js';
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
export function forwarderToChains(nodes: readonly ChainNode[]): {
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
  const network = testNetwork(upstreams, { pollIntervalMs: 100 });
  const forwarder = createForwarder({
    network,
    context,
    onFinding: (finding) => findings.push(finding),
  });
  return { forwarder, context, findings };
}
