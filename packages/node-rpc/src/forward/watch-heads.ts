import type { Family, Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import type { ForwardMetrics } from './forward-metrics.js';
import type { ForwardNode } from './forward-node.js';

/** How a family says how far it is. */
const HEAD_CALLS: Record<
  Family,
  { method: string; params: string; read(result: unknown): number | null } | null
> = {
  evm: { method: 'eth_getBlockByNumber', params: '["latest",false]', read: numberOfBlock },
  core: { method: 'cfx_epochNumber', params: '["latest_state"]', read: quantity },
  cell: { method: 'get_tip_block_number', params: '[]', read: quantity },
  registry: null,
};
const FINALIZED = { method: 'eth_getBlockByNumber', params: '["finalized",false]' };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4_194_304;

/** Asks every node how far it is, over and over, until the signal is aborted. */
export async function watchHeads(parts: {
  network: Network;
  nodes: readonly ForwardNode[];
  context: Context;
  metrics: ForwardMetrics;
  signal: AbortSignal;
}): Promise<void> {
  const { context, metrics, network, nodes, signal } = parts;
  const call = HEAD_CALLS[network.family];
  if (call === null) return;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);

  const ask = async (node: ForwardNode, method: string, params: string): Promise<unknown> => {
    const stop = new AbortController();
    const end = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    const timer = setTimeout(() => {
      node.circuit.failed();
      stop.abort(new Error('no answer in time'));
    }, TIMEOUT_MS);
    try {
      const request = {
        method,
        params,
        idempotent: true,
        whole: true,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
      };
      const outcome = await node.tryOnce({ ...request, signal: stop.signal }, stop.signal);
      return outcome.kind === 'result'
        ? (JSON.parse(outcome.body.bytes.toString('utf8')) as unknown)
        : undefined;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };

  const look = async (node: ForwardNode): Promise<void> => {
    const head = call.read(await ask(node, call.method, call.params));
    if (head === null) return;
    node.head = head;
    metrics.head(node.name, head);
    if (network.family !== 'evm') return;
    if (!network.finality.tag) {
      node.finalized = Math.max(0, head - network.finality.depth);
      return;
    }
    const finalized = numberOfBlock(await ask(node, FINALIZED.method, FINALIZED.params));
    node.finalized = finalized ?? Math.max(0, head - network.finality.depth);
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

function quantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null;
  return Number(value);
}

function numberOfBlock(value: unknown): number | null {
  return typeof value === 'object' && value !== null && 'number' in value ? quantity(value.number) : null;
}
