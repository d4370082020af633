import { type Network, parseNetworks } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { fetchWish } from '@packhouse/pipeline';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { askChainId } from './ask-chain-id.js';
import type { LocalOptions } from './options.js';

/** A network that was found ready: its nodes answer, are on one chain and can give the kinds. */
export interface ReadyNetwork {
  /** The networks file to hand to the processes. */
  file: string;
  network: Network;
  from: number;
  /** null: follow the head. */
  to: number | null;
  head: number;
  finalized: number;
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

/**
 * Asks the nodes before anything is started, so that a mistake is said in the first second.
 *
 * Throws NODE_UNREACHABLE, NODE_WRONG_CHAIN, NODE_NOT_JSON_RPC, NODE_METHOD_MISSING, RANGE_BEYOND_HEAD.
 */
export async function preflight(
  context: Context,
  options: Pick<LocalOptions, 'from' | 'to' | 'kinds' | 'network'>,
  rpc: readonly string[],
  overrides: Record<string, unknown> = {},
): Promise<ReadyNetwork> {
  const chainId = await askChainId(rpc, context.signal);
  const file = JSON.stringify(
    {
      networks: [
        {
          id: options.network ?? CHAIN_NAMES[chainId] ?? `chain-${chainId}`,
          family: 'evm',
          chainId,
          upstreams: rpc.map((url) => ({ url })),
          bundles: { kinds: options.kinds },
          ...overrides,
        },
      ],
    },
    null,
    2,
  );
  const network = parseNetworks(file, { source: 'the command line', env: {} })[0] as Network;
  const source = createBlockSource({ network, context });
  try {
    await source.probe(fetchWish(options.kinds), context.signal);
    const head = await source.head(context.signal);
    if (options.from > head.number) {
      throw new PackhouseError({
        code: 'RANGE_BEYOND_HEAD',
        message: `--from ${options.from} lies beyond the head of the chain, which is block ${head.number}.`,
        hint: 'Give a block that exists; to keep up with the head leave --to out.',
        data: { from: options.from, head: head.number },
      });
    }
    const to = options.to === 'finalized' ? head.finalized : options.to;
    if (to !== null && to < options.from) {
      throw new PackhouseError({
        code: 'RANGE_BEYOND_HEAD',
        message: `--from ${options.from} lies beyond the newest final block, which is ${head.finalized}.`,
        hint: 'Leave --to out to follow the head, or give an earlier block.',
      });
    }
    return { file, network, from: options.from, to, head: head.number, finalized: head.finalized };
  } finally {
    await source.close();
  }
}
