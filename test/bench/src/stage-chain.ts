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
  { start, end }: { start: number; end: number },
): Promise<void> {
  await database.networks.register({ id: network.id, chainId: network.chainId });
  await database.network(network.id).wanted.add({ kinds: [...KINDS], start, end, priority: 1 });
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
    for (let from = start; from <= end; from = last + 1) {
      const border = from - (from % SEGMENT_BLOCKS) + SEGMENT_BLOCKS;
      last = Math.min(end, from + WINDOW - 1, border - 1);
      const window = { start: from, end: last, kinds: KINDS };
      const { staged } = await ingest(parts, window, context.signal);
      if (staged < window.end - window.start + 1)
        throw new Error(`not all of blocks ${from} to ${window.end} were staged`);
    }
  } finally {
    await Promise.all([source.close(), deflater.close()]);
  }
}
