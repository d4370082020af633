import { createPieceWriter, type Deflate, type Piece } from '@packhouse/bundle';
import {
  type BlockSummary,
  checkTotalDifficulty,
  type Proof,
  type ProvedBlock,
  type Prover,
  type SenderCheck,
  type SenderThreads,
  traceProofs,
} from '@packhouse/chain';
import type { BlockSource, FetchedBlock } from '@packhouse/node-rpc';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import type { ProvedRecord } from './fragment-writer.js';

export interface ProveDeps {
  context: Context;
  source: BlockSource;
  prover: Prover;
  network: string;
  /** What deflates texts; default: zlib. */
  deflate?: Deflate;
  /** What recovers senders; default: this thread. */
  senders?: SenderThreads;
  /** Upstreams whose data contradicted itself, since this process began: all of their senders are recovered. */
  contradicted?: Set<string>;
}

/** What scanRecord finds of a block, and whether it recovers all senders. */
export interface BegunScan {
  record: Promise<ProvedRecord | null>;
  suspected: boolean;
}

/**
 * Proves what one upstream says of a block, of which the scan was begun.
 *
 * @throws RECORD_INVALID, PROOF_FAILED, and what reading the traces throws
 */
export async function proveRecord(
  parts: ProveDeps,
  fetched: FetchedBlock,
  before: BlockSummary | undefined,
  scan: BegunScan,
): Promise<ProvedRecord> {
  try {
    const scanned = await scan.record;
    const { record, proved } =
      scanned === null ? await proveParsed(parts, fetched, scan.suspected) : { record: scanned };
    if (before !== undefined) checkTotalDifficulty(before, record.block);
    return proved === undefined ? record : await addTraces(parts, fetched, record, proved);
  } catch (error) {
    dropTraces(fetched);
    throw error;
  }
}

/** Proves a block from its bytes; null if it must be parsed and proved, which is counted with its reason. */
export async function scanRecord(
  parts: ProveDeps,
  { raw }: FetchedBlock,
  suspected: boolean,
): Promise<ProvedRecord | null> {
  const { context, network, prover } = parts;
  const scanned = raw === undefined ? 'parsed' : prover.proveRaw(raw, { suspected });
  context.metrics.count(
    'packhouse_scanned_blocks_total',
    'Blocks by how they were proved: from their bytes (scanned), or as objects, and why',
    { network, result: typeof scanned === 'string' ? scanned : 'scanned' },
  );
  if (typeof scanned === 'string') return null;
  const { texts, transactionCount, senders, ...block } = scanned;
  const { traces, ...others } = texts;
  const proofs = await proveSenders(parts, block.number, senders);
  const record = {
    block: { ...block, proofs: [...block.proofs, ...proofs] },
    transactionCount,
    texts: others,
  };
  return traces === undefined ? record : { ...record, traces };
}

/** Parses and proves a block; its traces are left. */
async function proveParsed(
  parts: ProveDeps,
  fetched: FetchedBlock,
  suspected: boolean,
): Promise<{ record: ProvedRecord; proved: ProvedBlock }> {
  // Reading them parses them, which fails if they are malformed.
  const { block, receipts } = fetched;
  const { senders, ...proved } = parts.prover.proveBlock({ block, receipts }, { suspected, later: true });
  proved.proofs.push(...(await proveSenders(parts, proved.number, senders)));
  const { texts, transactions } = proved;
  return { record: { block: proved, transactionCount: transactions.length, texts }, proved };
}

/**
 * Recovers senders in other threads. If these fail it is done here: what a thread did not say is not taken for true, and
 * what it found is final.
 */
async function proveSenders(
  { context, network, prover, senders }: ProveDeps,
  block: number,
  check: SenderCheck | undefined,
): Promise<readonly Proof[]> {
  if (check === undefined) return [];
  if (senders === undefined) return prover.proveSenders(block, check);
  try {
    return await senders.prove(block, check);
  } catch (error) {
    if (isPackhouseError(error)) throw error;
    context.metrics.count(
      'packhouse_sender_thread_failures_total',
      'Blocks whose senders the main thread recovered because another thread ended',
      { network },
    );
    context.logger.warn(
      { err: error, block },
      'a thread that recovers senders failed; the main thread does it',
    );
    return prover.proveSenders(block, check);
  }
}

async function addTraces(
  parts: ProveDeps,
  fetched: FetchedBlock,
  record: ProvedRecord,
  proved: ProvedBlock,
): Promise<ProvedRecord> {
  const { stream } = fetched;
  const traces =
    stream === undefined ? textOfTraces(parts, proved, fetched) : await deflateTraces(parts, proved, stream);
  if (traces === undefined) return record;
  return {
    ...record,
    block: { ...record.block, proofs: [...proved.proofs, ...traceProofs(proved)] },
    traces,
  };
}

function textOfTraces({ prover }: ProveDeps, block: ProvedBlock, fetched: FetchedBlock): string | undefined {
  const traces = fetched.traces as unknown[] | undefined;
  return traces && prover.proveTraces(block, traces);
}

/** Checks and deflates traces while they arrive, so that an answer of any size takes bounded memory. */
async function deflateTraces(
  { prover, deflate }: ProveDeps,
  block: ProvedBlock,
  traces: AsyncIterable<unknown>,
): Promise<Piece> {
  const proof = prover.traceProver(block);
  const writer = createPieceWriter(deflate);
  let separator = '[';
  for await (const trace of traces) {
    await writer.write(Buffer.from(separator + proof.push(trace), 'latin1'));
    separator = ',';
  }
  proof.finish();
  await writer.write(Buffer.from(separator === '[' ? '[]' : ']'));
  return await writer.finish();
}

/**
 * Ends traces that will not be read: they may be an answer that still arrives on its own connection. An error of that
 * connection is ignored; unhandled, it would end the process.
 */
export function dropTraces({ stream }: Pick<FetchedBlock, 'stream'>): void {
  stream?.[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
