import { createProver, KINDS, type Kind } from '@packhouse/chain';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { askChainId } from '@packhouse/operations';
import { type ProofTrial, toFetchRequest, tryProofs } from '@packhouse/pipeline';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { type LocalOptions, pairAddresses } from './options.js';

/** A network that was found ready: its nodes answer, are on one chain and can give the kinds. */
export interface ReadyNetwork {
  /** The networks file to hand to the processes; null: that of NETWORKS_FILE. */
  file: string | null;
  network: Network;
  kinds: readonly Kind[];
  from: number;
  /** null: follow the head. */
  to: number | null;
  /** What the first requested block and the newest finalized one prove. */
  trial: ProofTrial;
}

/** Names for well-known chain ids; others are `chain-<id>`. */
const CHAIN_NAMES: Readonly<Record<number, string>> = {
  1: 'ethereum',
  10: 'optimism',
  56: 'bnb',
  100: 'gnosis',
  137: 'polygon',
  8453: 'base',
  42161: 'arbitrum',
  43114: 'avalanche',
  11155111: 'sepolia',
  17000: 'holesky',
  560048: 'hoodi',
};

type Wish = Pick<LocalOptions, 'from' | 'to' | 'kinds' | 'network'>;

/**
 * Asks the nodes of --rpc before anything is started, so that a mistake is said in the first second.
 *
 * Throws NODE_UNREACHABLE, NODE_WRONG_CHAIN, NODE_NOT_JSON_RPC, NODE_METHOD_MISSING, RANGE_BEYOND_HEAD.
 */
export async function preflight(
  context: Context,
  wish: Wish,
  rpc: readonly string[],
  overrides: Record<string, unknown> = {},
): Promise<ReadyNetwork> {
  const nodes = pairAddresses(rpc);
  const chainId = await askChainId(
    nodes.map(({ url }) => url),
    context,
  );
  const kinds = wish.kinds ?? [...KINDS];
  const file = JSON.stringify(
    {
      networks: [
        {
          id: wish.network ?? CHAIN_NAMES[chainId] ?? `chain-${chainId}`,
          family: 'evm',
          chainId,
          upstreams: nodes,
          bundles: { kinds },
          ...overrides,
        },
      ],
    },
    null,
    2,
  );
  const network = parseNetworks(file, { source: 'the command line', env: {} })[0] as Network;
  return { ...(await checkNetwork(context, network, wish)), file };
}

/**
 * Asks the nodes of a network whether they have the wanted blocks and kinds, and proves the first wanted block and the
 * newest final one of the range.
 *
 * Throws the errors of `preflight`, and KIND_UNKNOWN if the network does not keep a kind.
 */
export async function checkNetwork(context: Context, network: Network, wish: Wish): Promise<ReadyNetwork> {
  const kinds = wish.kinds ?? network.bundles.kinds;
  const absent = kinds.find((kind) => !network.bundles.kinds.includes(kind));
  if (absent !== undefined) {
    throw new PackhouseError({
      code: 'KIND_UNKNOWN',
      message: `${network.id} has no ${absent} in the networks file.`,
      hint: `Give some of its own: --kinds ${network.bundles.kinds.join(',')}.`,
    });
  }
  const source = createBlockSource({ network, context });
  try {
    await source.probe(toFetchRequest(kinds), context.signal);
    const head = await source.head(context.signal);
    if (wish.from > head.number) {
      throw new PackhouseError({
        code: 'RANGE_BEYOND_HEAD',
        message: `--from ${wish.from} is beyond the head, block ${head.number}.`,
        hint: 'Give an existing block. To follow the head, leave --to out.',
        data: { from: wish.from, head: head.number },
      });
    }
    const to = wish.to === 'finalized' ? head.finalized : wish.to;
    if (to !== null && to < wish.from) {
      throw new PackhouseError({
        code: 'RANGE_BEYOND_HEAD',
        message: `--from ${wish.from} is beyond the newest finalized block, ${head.finalized}.`,
        hint: 'Leave --to out to follow the head, or give an earlier block.',
      });
    }
    const { finalized } = head;
    const last = Math.max(wish.from, Math.min(to ?? finalized, finalized));
    const prover = await createProver(network.proofs);
    const parts = { context, source, prover, network: network.id };
    const trial = await tryProofs(parts, [wish.from, last], kinds, context.signal);
    return { file: null, network, kinds, from: wish.from, to, trial };
  } finally {
    await source.close();
  }
}
