import { createReplayNode, type FaultKind, type ObservedCall, type ReplayNode } from '@packhouse/replay-node';
import type { GrowingChain } from '../chain/honest-chain.js';
import { type Lie, NODE_NAMES, type NodeName } from '../schedule/action.js';
import { lieRule } from './lies.js';

/** The three nodes of the network. */
export interface Nodes {
  readonly ports: Readonly<Record<NodeName, number>>;
  /** Serves the chain as it is now; the lagging one is behind, and a frozen one stays where it is. */
  follow(): void;
  storm(node: NodeName, fault: FaultKind, probability: number, seed: number): void;
  trouble(node: NodeName, fault: FaultKind, times: number): void;
  lie(node: NodeName, lie: Lie): void;
  lag(blocks: number): void;
  freeze(): void;
  /** Says for a while that it is on another chain. */
  chainId(node: NodeName): void;
  restart(node: NodeName): Promise<void>;
  /** Ends all faults and lets all nodes have the whole chain. */
  calm(): void;
  /** Occurrences of each fault, over all nodes. */
  struck(): Record<string, number>;
  /** How often each block was given whole, by hash. */
  given(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

interface Kept {
  node: ReplayNode;
  /** The blocks it serves now, by number. */
  hashes: Map<number, string>;
  head: number;
}

/** Starts three nodes that serve this chain. `onCall` hears of every call. */
export async function startNodes(
  chain: GrowingChain,
  options: { chainId: number; onCall: (call: ObservedCall) => void },
): Promise<Nodes> {
  const past: Record<string, number> = {};
  const given = new Map<string, number>();
  const kept = {} as Record<NodeName, Kept>;
  let lag = 2;
  let frozen = false;

  const observe =
    (name: NodeName) =>
    (call: ObservedCall): void => {
      options.onCall(call);
      const whole = call.method === 'eth_getBlockByNumber' && call.params[1] === true;
      if (!whole || call.block === undefined || call.faults.length > 0) return;
      const { hashes, head } = kept[name];
      const hash = call.block <= head ? hashes.get(call.block) : undefined;
      if (hash !== undefined) given.set(hash, (given.get(hash) ?? 0) + 1);
    };
  const start = (name: NodeName, port = 0): Promise<ReplayNode> =>
    createReplayNode({ blocks: chain.blocks(), chainId: options.chainId, port, observe: observe(name) });
  const serve = (name: NodeName): void => {
    const one = kept[name];
    const blocks = chain.blocks();
    one.hashes = new Map(blocks.map(({ number, block }) => [number, block.hash]));
    one.head = Math.max(chain.first, chain.head() - (name === 'lagging' ? lag : 0));
    one.node.setBlocks(blocks, one.head);
    one.node.setFinalized(Math.min(chain.finalized(), one.head));
  };
  const noteStruck = (node: ReplayNode): void => {
    for (const [kind, count] of Object.entries(node.faults.hits()))
      past[kind] = (past[kind] ?? 0) + (count ?? 0);
  };
  const follow = (): void => {
    for (const name of NODE_NAMES) if (name !== 'lagging' || !frozen) serve(name);
  };
  for (const name of NODE_NAMES) kept[name] = { node: await start(name), hashes: new Map(), head: 0 };
  follow();

  return {
    ports: Object.fromEntries(NODE_NAMES.map((name) => [name, kept[name].node.port])) as Record<
      NodeName,
      number
    >,
    follow,
    storm(node, fault, probability, seed) {
      kept[node].node.faults.randomise({ seed, probability: { [fault]: probability }, cleanFromAttempt: 6 });
    },
    trouble(node, fault, times) {
      kept[node].node.faults.add({ do: fault, when: { times } });
    },
    lie(node, lie) {
      kept[node].node.faults.add(lieRule(lie));
    },
    lag(blocks) {
      lag = blocks;
      follow();
    },
    freeze() {
      frozen = true;
    },
    chainId(node) {
      kept[node].node.setChainId(options.chainId + 1);
      past.chainId = (past.chainId ?? 0) + 1;
    },
    async restart(name) {
      const { node } = kept[name];
      noteStruck(node);
      past.restart = (past.restart ?? 0) + 1;
      await node.close();
      kept[name].node = await start(name, node.port);
      serve(name);
    },
    calm() {
      frozen = false;
      lag = 0;
      for (const name of NODE_NAMES) {
        kept[name].node.faults.clear();
        kept[name].node.setChainId(options.chainId);
      }
      follow();
    },
    struck() {
      const all = { ...past };
      for (const name of NODE_NAMES)
        for (const [kind, count] of Object.entries(kept[name].node.faults.hits()))
          all[kind] = (all[kind] ?? 0) + (count ?? 0);
      return all;
    },
    given: () => given,
    close: async () => {
      await Promise.all(NODE_NAMES.map((name) => kept[name].node.close()));
    },
  };
}
