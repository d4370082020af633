import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { askAside } from './ask-aside.js';
import { checkIdentity } from './check-identity.js';
import type { ForwardMetrics } from './forward-metrics.js';
import type { ForwardNode } from './forward-node.js';
import { headQuestion } from './head-question.js';
import { createFinalityWatch } from './watch-finality.js';

/** Asks every node which chain it is on and how far it is, over and over, until the signal is aborted. */
export async function watchHeads(parts: {
  network: Network;
  nodes: readonly ForwardNode[];
  context: Context;
  metrics: ForwardMetrics;
  signal: AbortSignal;
}): Promise<void> {
  const { context, metrics, network, nodes, signal } = parts;
  const question = headQuestion(network);
  if (question === null) return;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  const watchFinality = network.family === 'evm' ? createFinalityWatch(network, nodes) : undefined;

  const look = async (node: ForwardNode): Promise<void> => {
    const counts = await checkIdentity(node, parts);
    const said = counts ? await askAside(node, question, signal) : null;
    const head = said?.kind === 'result' ? question.read(said.value) : null;
    if (head !== null) {
      node.head = head;
      metrics.head(node.name, head);
    }
    await watchFinality?.(node, head, signal);
  };

  await Promise.all(
    nodes.map(async (node) => {
      while (!signal.aborted) {
        await look(node);
        await context.clock.sleep(everyMs, signal).catch(() => undefined);
      }
    }),
  );
}
