import { createProver } from '@packhouse/chain';
import { createBlockSource, type FetchedBlock, type UpstreamClient } from '@packhouse/node-rpc';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import type { Chart } from './chart.js';
import { headerOf } from './read-values.js';

/** Most blocks searched for one with transactions, whose proof tells more. */
const LOOK_BACK = 8;

/**
 * Fetches a recent final block of an EVM upstream and proves it as an ingester does: header, transactions, receipts,
 * and traces if the network keeps them.
 */
export async function checkProof(
  chart: Chart,
  ask: UpstreamClient,
  { context, timeoutMs, signal }: { context: Context; timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  if (!chart.usable || chart.head === null) return;
  const number = await blockWithTransactions(ask, Math.min(chart.final ?? chart.head, chart.head));
  const { network, upstream } = chart;
  const traces = network.bundles.enabled && network.bundles.kinds.includes('traces');
  const source = createBlockSource({ network: { ...network, upstreams: [upstream] }, context, timeoutMs });
  const prover = await createProver(network.proofs);
  const fetched = async (wish: { receipts: boolean; traces: boolean }): Promise<FetchedBlock> =>
    source.fetchBlock(number, wish, { signal });
  try {
    const { block, receipts } = await fetched({ receipts: true, traces: false });
    const proved = prover.proveBlock({ block, receipts: receipts ?? [] });
    const count = proved.transactions.length;
    chart.set('receipts', 'ok', `${number}${count === 0 ? ' (empty)' : ''}`);
    if (!traces) return;
    try {
      const withTraces = await fetched({ receipts: false, traces: true });
      const proof = prover.traceProver(proved);
      for await (const trace of withTraces.traces ?? []) proof.push(trace);
      proof.finish();
      chart.set('traces', 'ok', String(number));
    } catch (error) {
      signal.throwIfAborted();
      noteFailure(chart, 'traces', number, error);
    }
  } catch (error) {
    signal.throwIfAborted();
    noteFailure(chart, 'receipts', number, error);
  } finally {
    await source.close();
  }
}

/** This block, or one a little before it that has transactions. */
async function blockWithTransactions(ask: UpstreamClient, newest: number): Promise<number> {
  const numbers = Array.from({ length: LOOK_BACK }, (_, at) => newest - at).filter((number) => number >= 0);
  const headers = await Promise.all(
    numbers.map(async (number) => headerOf(await ask.call('eth_getBlockByNumber', [hex(number), false]))),
  );
  return headers.find((header) => header !== null && header.transactions > 0)?.number ?? newest;
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

function noteFailure(chart: Chart, column: 'receipts' | 'traces', number: number, error: unknown): void {
  const code = isPackhouseError(error) ? error.code : 'INTERNAL';
  const message = chart.label.quote(error instanceof Error ? error.message : String(error));
  const what = column === 'traces' ? 'The traces' : 'What it gives';
  if (code === 'PROOF_FAILED' || code === 'RECORD_INVALID') {
    chart.usable = false;
    chart.find(
      ...([column, 'fail', 'false'] as const),
      `${what} of final block ${number} fails its proofs: ${message}`,
      'Resynchronise or replace the node; ingesters do not store what it says.',
    );
  } else if (code === 'NODE_METHOD_MISSING') {
    chart.find(
      ...([column, 'warn', 'no'] as const),
      `It offers no method that gives ${column}.`,
      column === 'traces'
        ? 'Enable trace_block or debug_traceBlockByHash on it, or take traces out of bundles.kinds.'
        : 'Enable eth_getBlockReceipts on it.',
    );
  } else {
    chart.find(
      ...([column, 'warn', 'not had'] as const),
      `${column === 'traces' ? 'The traces' : 'The receipts'} of final block ${number} could not be had: ${message}`,
      'Ask again; where it stays so the node has pruned them or is overloaded.',
    );
  }
}
