import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPieceWriter, type Piece } from '@packhouse/bundle';
import type { BlockRange, Kind, ProvedBlock, Prover } from '@packhouse/chain';
import type { QuarantineTry, StagedBlock, StageRequest } from '@packhouse/database';
import type { BlockSource, FailedBlock, FetchedBlock, FetchWish } from '@packhouse/node-rpc';
import { type Context, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { dropTraces } from './drop-traces.js';
import { createFragmentWriter, type ProvedRecord } from './fragment-writer.js';
import { payloadDigest } from './payload-digest.js';

export interface ExtractParts {
  context: Context;
  source: BlockSource;
  prover: Prover;
  network: string;
  /** Blocks that share a fragment at most, so that a bundle can be cut at its most blocks; default: as many as fit. */
  maxFragmentBlocks?: number;
}

/** A block that could not be had, or whose data failed its proofs on every upstream that was asked. */
export interface ExtractFailure {
  number: number;
  error: Error;
  /** The upstream that gave the data which failed, or the last that was asked. */
  upstream: string | null;
  /** Hex SHA-256 of the answer that failed, where there was one. */
  payloadDigest: string | null;
  /** What each upstream did, in the order they were asked. */
  tried: readonly QuarantineTry[];
}

export interface Extracted {
  /** Consecutive, linked, proved blocks, each run ready to be staged; a failed block ends a run. */
  runs: StageRequest[];
  failures: ExtractFailure[];
  /** Bytes that came over the wire. */
  wireBytes: number;
}

/** Takes runs while the blocks behind them are still extracted. */
export interface RunTaker {
  /** Blocks of a run at most. */
  runBlocks: number;
  /** Called for one run after the other. What it throws ends the extraction. */
  take(run: StageRequest): Promise<void>;
}

/** What the nodes have to be asked for, for these kinds. */
export function fetchWish(kinds: readonly Kind[]): FetchWish {
  return {
    receipts: kinds.includes('receipts') || kinds.includes('logs'),
    traces: kinds.includes('traces'),
  };
}

/**
 * Fetches, proves and deflates the blocks of a range.
 *
 * A block whose data fails a proof is asked for again from the upstreams that have not failed it, one after the
 * other; then it is a failure in its place and everything else goes on. With a `taker`, runs are handed over as they
 * end, one beside the one that is filled, and the result has none. Throws only when aborted, and what the taker throws.
 */
export async function extract(
  parts: ExtractParts,
  range: BlockRange,
  kinds: readonly Kind[],
  signal: AbortSignal,
  taker?: RunTaker,
): Promise<Extracted> {
  const wish = fetchWish(kinds);
  const result: Extracted = { runs: [], failures: [], wireBytes: 0 };
  let run = createRun(parts, kinds);
  let taking: Promise<void> = Promise.resolve();
  const closeRun = async (): Promise<void> => {
    const ended = run;
    run = createRun(parts, kinds);
    if (ended.blocks.length === 0) return;
    if (taker === undefined) {
      result.runs.push(await ended.close());
      return;
    }
    await taking;
    taking = handOver(ended, taker);
    // Awaited before the next run is handed over, and at the end.
    taking.catch(() => undefined);
  };
  const handOver = async (ended: Run, { take }: RunTaker): Promise<void> => {
    let request: StageRequest;
    try {
      request = await ended.close();
    } catch (error) {
      failRun(ended, error as Error);
      return;
    }
    await take(request);
  };
  const failRun = ({ blocks }: Run, error: Error): void => {
    for (const { number } of blocks) {
      result.failures.push({ number, error, upstream: null, payloadDigest: null, tried: [] });
    }
  };
  /** What cannot be written (a record too large for its buffer) is a fault of its blocks, and everything else goes on. */
  const orFail = async (written: Run, step: () => Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      signal.throwIfAborted();
      if (run === written) run = createRun(parts, kinds);
      failRun(written, error as Error);
    }
  };
  /** Ends the run: without a taker what fails is its own, with one it is the taker's. */
  const endRun = (): Promise<void> => (taker === undefined ? orFail(run, closeRun) : closeRun());
  try {
    for await (const fetched of parts.source.fetchBlocks(range, wish, signal)) {
      if ('bytes' in fetched) result.wireBytes += fetched.bytes;
      const outcome = await prove(parts, fetched, wish, signal);
      if ('error' in outcome) {
        result.failures.push(outcome);
        await endRun();
        continue;
      }
      const last = run.blocks.at(-1);
      const linked = last === undefined || last.hash === outcome.block.parentHash;
      if (!linked || (taker !== undefined && run.blocks.length >= taker.runBlocks)) await endRun();
      const open = run;
      await orFail(open, () => open.push(outcome));
      // Blocks that are here already come without a turn of the event loop in between. Answers of the nodes, of
      // Postgres and of zlib's pool would wait until all of them are proved, and the other cores with them.
      await nextTurn();
    }
    await endRun();
  } finally {
    await taking.catch(() => undefined);
  }
  await taking;
  return result;
}

/** A proved block with what the node that gave it calls itself. */
interface NamedRecord extends ProvedRecord {
  client: string | null;
}

interface Run {
  blocks: StagedBlock[];
  push(record: NamedRecord): Promise<void>;
  close(): Promise<StageRequest>;
}

function createRun({ network, maxFragmentBlocks }: ExtractParts, kinds: readonly Kind[]): Run {
  const blocks: StagedBlock[] = [];
  const writer = createFragmentWriter(kinds, maxFragmentBlocks);
  return {
    blocks,
    push(record) {
      const { number, hash, parentHash, timestamp, transactions, proofs } = record.block;
      const linked = blocks.length > 0 ? (['parentLink'] as const) : [];
      blocks.push({
        number,
        hash,
        parentHash,
        timestamp,
        transactionCount: transactions.length,
        proofs: [...proofs, ...linked, ...(record.traces === undefined ? [] : (['traces'] as const))],
        ...(record.client === null ? {} : { client: record.client }),
      });
      return writer.push(record);
    },
    close: async () => ({ network, blocks, kinds: await writer.close() }),
  };
}

/** Proves what was fetched; on a failed proof asks the other upstreams in turn. */
async function prove(
  parts: ExtractParts,
  fetched: FetchedBlock | FailedBlock,
  wish: FetchWish,
  signal: AbortSignal,
): Promise<NamedRecord | ExtractFailure> {
  if ('error' in fetched) return neverHad(fetched);
  const { source, prover, context } = parts;
  const { number } = fetched;
  const lied: string[] = [];
  const tried: QuarantineTry[] = [];
  for (let candidate = fetched; ; ) {
    const { upstream } = candidate;
    let failure: Error;
    try {
      return { ...(await proveRecord(prover, candidate)), client: candidate.client ?? null };
    } catch (error) {
      signal.throwIfAborted();
      failure = error as Error;
      lied.push(upstream);
      tried.push(tryOf(upstream, failure, payloadDigest(candidate)));
      if (isPackhouseError(error, 'PROOF_FAILED') || isPackhouseError(error, 'RECORD_INVALID')) {
        source.reportLie(upstream);
        countFailedProof(parts, error);
      }
      context.logger.warn({ block: number, upstream, err: error }, 'block failed its proofs');
    }
    const failed = (): ExtractFailure => {
      const digest = tried.findLast((one) => one.upstream === upstream)?.payloadDigest ?? null;
      return { number, error: failure, upstream, payloadDigest: digest, tried };
    };
    try {
      candidate = await source.fetchBlock(number, wish, { avoid: lied, signal });
    } catch (error) {
      signal.throwIfAborted();
      const other = isPackhouseError(error) ? error.data?.upstream : undefined;
      if (typeof other === 'string' && !lied.includes(other)) tried.push(tryOf(other, error as Error, null));
      return failed();
    }
    if (lied.includes(candidate.upstream)) {
      dropTraces(candidate);
      return failed();
    }
  }
}

/** A record without the form that it must have is counted as one that failed the proof `form`. */
function countFailedProof({ context, network }: ExtractParts, error: PackhouseError): void {
  const { proof } = error.data;
  context.metrics
    .counter('packhouse_failed_proofs_total', 'Blocks whose data failed a proof, each upstream by itself', [
      'network',
      'proof',
    ])
    .inc({ network, proof: typeof proof === 'string' ? proof : 'form' });
}

/** A block that no upstream gave. */
function neverHad({ number, error, upstreams, faults }: FailedBlock): ExtractFailure {
  const tried = (faults ?? []).map((fault) => tryOf(fault.upstream, fault.error, null));
  return { number, error, upstream: upstreams.at(-1) ?? null, payloadDigest: null, tried };
}

/** Messages of nodes may be of any length; what is kept of them may not. */
const MAX_MESSAGE = 500;

function tryOf(upstream: string, error: Error, digest: string | null): QuarantineTry {
  const cause = isPackhouseError(error) ? error.code : 'INTERNAL';
  return { upstream, cause, message: error.message.slice(0, MAX_MESSAGE), payloadDigest: digest };
}

async function proveRecord(prover: Prover, fetched: FetchedBlock): Promise<ProvedRecord> {
  let block: ProvedBlock;
  try {
    block = prover.proveBlock({
      block: fetched.block,
      ...(fetched.receipts === undefined ? {} : { receipts: fetched.receipts }),
    });
  } catch (error) {
    dropTraces(fetched);
    throw error;
  }
  if (fetched.traces === undefined) return { block };
  if (Array.isArray(fetched.traces)) return { block, traces: prover.proveTraces(block, fetched.traces) };
  return { block, traces: await deflateTraces(prover, block, fetched.traces) };
}

/** Proves and deflates traces as they come in, so that an answer of any size passes through bounded memory. */
async function deflateTraces(
  prover: Prover,
  block: ProvedBlock,
  traces: AsyncIterable<unknown>,
): Promise<Piece> {
  const proof = prover.traceProver(block);
  const writer = createPieceWriter();
  try {
    let separator = '[';
    for await (const trace of traces) {
      await writer.write(Buffer.from(separator + proof.push(trace), 'latin1'));
      separator = ',';
    }
    proof.finish();
    await writer.write(Buffer.from(separator === '[' ? '[]' : ']'));
    return await writer.finish();
  } catch (error) {
    writer.destroy();
    throw error;
  }
}
