import { createDeflater } from '@packhouse/bundle';
import { createProver, KINDS } from '@packhouse/chain';
import { SEGMENT_BLOCKS } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { ingest } from '@packhouse/pipeline';
import type { Place } from './place.js';

/** Blocks of one extract. */
const WINDOW = 12;

/** Wants blocks `start` to `end` of all kinds, takes them from the network's node and stages them. */
export async function stageChain(
  { context, database }: Place,
  network: Network,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await database.networks.register({ id: network.id, chainId: network.chainId });
  await database.network(network.id).backfills.add({ kinds: [...KINDS], from, to, priority: 1 });
  const source = createBlockSource({ network, context });
  const deflater = createDeflater({ context });
  try {
    const head = await source.head(context.signal);
    await database.network(network.id).head.set({
      number: head.number,
      hash: head.hash,
      finalized: head.finalized,
    });
    const prover = await createProver(network.proofs);
    const parts = {
      context,
      database: database.network(network.id),
      source,
      prover,
      network: network.id,
      deflate: deflater.deflate,
    };
    let last: number;
    for (let first = from; first <= to; first = last + 1) {
      const border = first - (first % SEGMENT_BLOCKS) + SEGMENT_BLOCKS;
      last = Math.min(to, first + WINDOW - 1, border - 1);
      const window = { firstBlock: first, lastBlock: last, kinds: KINDS };
      const { staged } = await ingest(parts, window, context.signal);
      if (staged < last - first + 1) throw new Error(`not all of blocks ${first} to ${last} were staged`);
    }
  } finally {
    await Promise.all([source.close(), deflater.close()]);
  }
}
