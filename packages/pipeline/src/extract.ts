import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPieceWriter, type Piece } from '@packhouse/bundle';
import type { BlockRange, Kind, ProvedBlock, Prover } from '@packhouse/chain';
import type { StagedBlock, StageRequest } from '@packhouse/database';
import type { BlockSource, FailedBlock, FetchedBlock, FetchWish } from '@packhouse/node-rpc';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { createFragmentWriter, type ProvedRecord } from './fragment-writer.js';

export interface ExtractParts {
  context: Context;
  source: BlockSource;
  prover: Prover;
  network: string;
}

/** A block that could not be had, or whose data failed its proofs on every upstream that was asked. */
export interface ExtractFailure {
  number: number;
  error: Error;
  /** The upstream that gave the data which failed, or the last that was asked. */
  upstream: string | null;
}

export interface Extracted {
  /** Consecutive, linked, proved blocks, each run ready to be staged; a failed block ends a run. */
  runs: StageRequest[];
  failures: ExtractFailure[];
  /** Bytes that came over the wire. */
  wireBytes: number;
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
 * other; then it is a failure in its place and everything else goes on. Throws only when aborted.
 */
export async function extract(
  parts: ExtractParts,
  range: BlockRange,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<Extracted> {
  const wish = fetchWish(kinds);
  const result: Extracted = { runs: [], failures: [], wireBytes: 0 };
  let run = createRun(parts.network, kinds);
  const closeRun = async (): Promise<void> => {
    if (run.blocks.length > 0) result.runs.push(await run.close());
    run = createRun(parts.network, kinds);
  };
  for await (const fetched of parts.source.fetchBlocks(range, wish, signal)) {
    if ('bytes' in fetched) result.wireBytes += fetched.bytes;
    const outcome = await prove(parts, fetched, wish, signal);
    if ('error' in outcome) {
      result.failures.push(outcome);
      await closeRun();
      continue;
    }
    const last = run.blocks.at(-1);
    if (last !== undefined && last.hash !== outcome.block.parentHash) await closeRun();
    await run.push(outcome);
    // Blocks that are here already come without a turn of the event loop in between. Answers of the nodes, of
    // Postgres and of zlib's pool would wait until all of them are proved, and the other cores with them.
    await nextTurn();
  }
  await closeRun();
  return result;
}

interface Run {
  blocks: StagedBlock[];
  push(record: ProvedRecord): Promise<void>;
  close(): Promise<StageRequest>;
}

function createRun(network: string, kinds: readonly Kind[]): Run {
  const blocks: StagedBlock[] = [];
  const writer = createFragmentWriter(kinds);
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
      });
      return writer.push(record);
    },
    close: async () => ({ network, blocks, kinds: await writer.close() }),
  };
}

/** Proves what was fetched; on a failed proof asks the other upstreams in turn. */
async function prove(
  { source, prover, context }: ExtractParts,
  fetched: FetchedBlock | FailedBlock,
  wish: FetchWish,
  signal: AbortSignal,
): Promise<ProvedRecord | ExtractFailure> {
  if ('error' in fetched) {
    return { number: fetched.number, error: fetched.error, upstream: fetched.upstreams.at(-1) ?? null };
  }
  const lied: string[] = [];
  let failure: Error | undefined;
  for (let candidate = fetched; ; ) {
    try {
      return await proveRecord(prover, candidate);
    } catch (error) {
      signal.throwIfAborted();
      failure = error as Error;
      lied.push(candidate.upstream);
      if (isPackhouseError(error, 'PROOF_FAILED') || isPackhouseError(error, 'RECORD_INVALID')) {
        source.reportLie(candidate.upstream);
      }
      context.logger.warn(
        { block: fetched.number, upstream: candidate.upstream, err: error },
        'block failed its proofs',
      );
    }
    try {
      candidate = await source.fetchBlock(fetched.number, wish, { avoid: lied, signal });
    } catch (error) {
      signal.throwIfAborted();
      return { number: fetched.number, error: failure ?? (error as Error), upstream: lied.at(-1) ?? null };
    }
    if (lied.includes(candidate.upstream)) {
      dropTraces(candidate);
      return { number: fetched.number, error: failure, upstream: candidate.upstream };
    }
  }
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

/** Lets go of traces that nobody will read: they may be an answer that is still coming in on a connection of its own. */
function dropTraces({ traces }: FetchedBlock): void {
  if (traces === undefined || Array.isArray(traces)) return;
  void traces[Symbol.asyncIterator]().return?.();
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
