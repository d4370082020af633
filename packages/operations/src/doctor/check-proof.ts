import { createProver, type ProvedBlock, type Prover, toQuantity } from '@packhouse/chain';
import {
  type BlockSource,
  createBlockSource,
  type FetchedBlock,
  type UpstreamClient,
} from '@packhouse/node-rpc';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import type { Chart } from './chart.js';
import { getHeader } from './read-values.js';

/** Blocks searched for one with transactions, whose proof covers more. */
const MAX_SEARCHED = 8;

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
  const number = await blockWithTransactions(ask, Math.min(chart.finalized ?? chart.head, chart.head));
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
    noteGaps(chart, proved);
    await checkOldBlock(chart, prover, source, { number: Math.floor(number / 2), signal });
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

/** Proves a block from the middle of the chain: older blocks may follow other rules. A missing one is ignored. */
async function checkOldBlock(
  chart: Chart,
  prover: Prover,
  source: BlockSource,
  { number, signal }: { number: number; signal: AbortSignal },
): Promise<void> {
  try {
    const { block, receipts } = await source.fetchBlock(
      number,
      { receipts: true, traces: false },
      { signal },
    );
    noteGaps(chart, prover.proveBlock({ block, receipts: receipts ?? [] }));
  } catch (error) {
    signal.throwIfAborted();
    if (!isPackhouseError(error, 'PROOF_FAILED') && !isPackhouseError(error, 'RECORD_INVALID')) return;
    chart.find(
      { column: 'receipts', level: 'warn', text: 'not old' },
      `A recent block is proved, but block ${number} is not: ${chart.label.quote(error.message)}`,
      'Compare with another node. If both agree, this version does not support the rules of that time.',
    );
  }
}

/** Adds what the rules of this network do not prove. */
function noteGaps(chart: Chart, { number, notProved }: ProvedBlock): void {
  const answers = chart.network.rpc.integrity === 'full' ? ' integrity: full does not check it either.' : '';
  for (const { proof, because } of notProved) {
    const message = `${proof} of block ${number} is not proved: ${because}`;
    if (chart.findings.some((finding) => finding.message.endsWith(because))) continue;
    chart.find(
      { column: 'receipts', level: 'warn', text: 'partly' },
      message,
      `No action is needed: manifest entries and pointers state it.${answers}`,
    );
  }
}

/** This block, or one a little before it that has transactions. */
async function blockWithTransactions(ask: UpstreamClient, newest: number): Promise<number> {
  const numbers = Array.from({ length: MAX_SEARCHED }, (_, at) => newest - at).filter(
    (number) => number >= 0,
  );
  const headers = await Promise.all(
    numbers.map(async (number) =>
      getHeader(await ask.call('eth_getBlockByNumber', [toQuantity(number), false])),
    ),
  );
  return headers.find((header) => header !== null && header.transactions > 0)?.number ?? newest;
}

function noteFailure(chart: Chart, column: 'receipts' | 'traces', number: number, error: unknown): void {
  const code = isPackhouseError(error) ? error.code : 'INTERNAL';
  const message = chart.label.quote(error instanceof Error ? error.message : String(error));
  if (code === 'PROOF_FAILED' || code === 'RECORD_INVALID') {
    chart.usable = false;
    chart.find(
      { column: column, level: 'fail', text: 'false' },
      `${column === 'traces' ? 'Its traces' : 'Its data'} of finalized block ${number} fail the proofs: ${message}`,
      isPackhouseError(error) && error.data.way !== undefined && error.hint !== undefined
        ? error.hint
        : 'Resync or replace the node. Ingesters do not store its data.',
    );
    const finding = chart.findings.at(-1);
    const unknown = isPackhouseError(error, 'PROOF_FAILED') && error.data.unknownFields !== undefined;
    if (unknown && finding !== undefined) chart.strange = { number, error, finding };
  } else if (code === 'NODE_METHOD_MISSING') {
    chart.find(
      { column: column, level: 'warn', text: 'no' },
      `It has no method for ${column}.`,
      column === 'traces'
        ? 'Enable trace_block or debug_traceBlockByHash, or remove traces from bundles.kinds.'
        : 'Enable eth_getBlockReceipts.',
    );
  } else {
    chart.find(
      { column: column, level: 'warn', text: 'missing' },
      `Cannot fetch the ${column} of finalized block ${number}: ${message}`,
      'Run this again. If it persists, the node has pruned them or is overloaded.',
    );
  }
}
