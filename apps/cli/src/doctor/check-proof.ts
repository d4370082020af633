import { createProver, type ProvedBlock, type Prover } from '@packhouse/chain';
import {
  type BlockSource,
  createBlockSource,
  type FetchedBlock,
  type UpstreamClient,
} from '@packhouse/node-rpc';
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

/** Proves a block from the middle of the chain: older blocks may follow other rules. One that it lacks says nothing. */
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
      ...(['receipts', 'warn', 'not old'] as const),
      `A recent block is proved, and block ${number} is not: ${chart.label.quote(error.message)}`,
      'Ask another node for it; if both agree, this version does not know the rules of that time.',
    );
  }
}

/** Adds what the rules of this network leave unproved. */
function noteGaps(chart: Chart, { number, notProved }: ProvedBlock): void {
  const answers = chart.network.rpc.integrity === 'full' ? ' integrity: full does not check it either.' : '';
  for (const { proof, because } of notProved) {
    const message = `${proof} of block ${number} is not proved: ${because}`;
    if (chart.findings.some((finding) => finding.message.endsWith(because))) continue;
    chart.find(
      ...(['receipts', 'warn', 'partly'] as const),
      message,
      `Manifest entries and pointers will say so; nothing else has to be done.${answers}`,
    );
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
    const finding = chart.findings.at(-1);
    const unknown = isPackhouseError(error, 'PROOF_FAILED') && error.data.unknownFields !== undefined;
    if (unknown && finding !== undefined) chart.strange = { number, error, finding };
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
