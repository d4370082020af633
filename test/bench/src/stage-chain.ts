import { createProver, KINDS } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { extractRuns } from '@packhouse/pipeline';
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
  await database.wanted.add({ network: network.id, kinds: [...KINDS], start, end, priority: 1 });
  const source = createBlockSource({ network, context });
  try {
    const head = await source.head(context.signal);
    await database.head.set({
      network: network.id,
      number: head.number,
      hash: head.hash,
      finalized: head.finalized,
    });
    const parts = { context, source, prover: await createProver(network.proofs), network: network.id };
    for (let from = start; from <= end; from += WINDOW) {
      const window = { start: from, end: Math.min(end, from + WINDOW - 1), kinds: KINDS };
      const { runs, failures } = await extractRuns(parts, window, context.signal);
      if (failures[0] !== undefined) throw failures[0].error;
      for (const run of runs) await database.staging.stage(run);
    }
  } finally {
    await source.close();
  }
}
