import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlockSummary, Kind, NotProved } from '@packhouse/chain';
import type { StagedBlock, StageRequest } from '@packhouse/database';
import type { FetchRequest } from '@packhouse/node-rpc';
import { isPackhouseError } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { createFragmentWriter } from './fragment-writer.js';
import { type ExtractFailure, type NamedRecord, proveBlock, toFailure } from './prove-block.js';
import { dropTraces, type ProveDeps } from './prove-record.js';
import { scanAhead } from './scan-ahead.js';
import { addUnknownFields, type UnknownFields } from './unknown-fields.js';

export interface ExtractParts extends ProveDeps {
  /** Blocks of a fragment at most, so that a bundle can be cut at its most blocks; default: as many as fit. */
  maxFragmentBlocks?: number;
}

/** Takes runs of consecutive, linked, proved blocks while the blocks after them are still extracted. */
interface RunTaker {
  /** Blocks of a run at most. */
  runBlocks: number;
  /** Whether a block of the window failed before; default: false. */
  suspected?: boolean;
  /** Called for one run after the other. An error ends the extraction. */
  take(run: StageRequest): Promise<void>;
}

interface Extracted {
  failures: ExtractFailure[];
  /** Of the proved blocks. */
  unknownFields: UnknownFields[];
  /** Bytes received over the wire. */
  wireBytes: number;
}

/** The parts that must be fetched for these kinds. */
export function toFetchRequest(kinds: readonly Kind[]): FetchRequest {
  return {
    receipts: kinds.includes('receipts') || kinds.includes('logs'),
    traces: kinds.includes('traces'),
  };
}

/**
 * Fetches, proves and deflates the blocks of a window, and hands them over as runs: one is taken while the next is
 * filled.
 *
 * A block that fails on every upstream is a failure and ends its run; the others continue, unless it is of a fork that
 * is not known. Throws only when aborted, and what `take` throws.
 */
export async function extract(
  parts: ExtractParts,
  window: IngestWindow,
  signal: AbortSignal,
  { runBlocks, take, suspected = false }: RunTaker,
): Promise<Extracted> {
  const wish = toFetchRequest(window.kinds);
  const extracted: Extracted = { failures: [], unknownFields: [], wireBytes: 0 };
  let run = createRun(parts, window.kinds);
  let before: BlockSummary | undefined;
  const omitting = new Set<string>();
  let taking: Promise<void> = Promise.resolve();
  /** A run that cannot be written (a record too large for its buffer) is a failure of its blocks. */
  const fail = ({ blocks }: Run, error: Error): void => {
    for (const { number } of blocks) extracted.failures.push(toFailure(number, error));
  };
  const handOver = async (ended: Run): Promise<void> => {
    let request: StageRequest;
    try {
      request = await ended.close();
    } catch (error) {
      fail(ended, error as Error);
      return;
    }
    await take(request);
  };
  const endRun = async (): Promise<void> => {
    const ended = run;
    if (ended.blocks.length === 0) return;
    run = createRun(parts, window.kinds);
    await taking;
    taking = handOver(ended);
    // Awaited before the next run is handed over, and at the end.
    taking.catch(() => undefined);
  };
  try {
    const blocks = parts.source.fetchBlocks(window, wish, signal);
    for await (const { fetched, scan } of scanAhead(parts, blocks, suspected)) {
      if ('bytes' in fetched) extracted.wireBytes += fetched.bytes;
      const outcome = await proveBlock(parts, fetched, wish, signal, { before, omitting, suspected, scan });
      if ('error' in outcome) {
        extracted.failures.push(outcome);
        await endRun();
        if (!isPackhouseError(outcome.error, 'FORK_UNKNOWN')) continue;
        // The blocks after it are of the same fork.
        for (let number = outcome.number + 1; number <= window.lastBlock; number++) {
          extracted.failures.push({ ...outcome, number });
        }
        break;
      }
      before = outcome.block;
      addUnknownFields(extracted.unknownFields, outcome.block.number, outcome.block.unknownFields);
      const last = run.blocks.at(-1);
      const linked = last === undefined || last.hash === outcome.block.parentHash;
      if (!linked || run.blocks.length >= runBlocks) await endRun();
      try {
        await run.push(outcome);
      } catch (error) {
        signal.throwIfAborted();
        fail(run, error as Error);
        run = createRun(parts, window.kinds);
      }
      // Blocks that were received already come without a turn of the event loop between them. Answers of the nodes, of
      // Postgres and of other threads would wait until all of them are proved, and so would the other cores.
      await nextTurn();
    }
    await endRun();
  } finally {
    await taking.catch(() => undefined);
  }
  await taking;
  return extracted;
}

/** Extracts a window and returns its runs, for windows that fit in memory. */
export async function extractRuns(
  parts: ExtractParts,
  window: IngestWindow,
  signal: AbortSignal,
  suspected = false,
): Promise<Extracted & { runs: StageRequest[] }> {
  const runs: StageRequest[] = [];
  const take = async (run: StageRequest): Promise<void> => void runs.push(run);
  const taker = { runBlocks: Number.POSITIVE_INFINITY, take, suspected };
  return { ...(await extract(parts, window, signal, taker)), runs };
}

/**
 * Fetches a block and drops it; waits for upstreams that rest, since their rest says nothing about this block. Returns
 * the error that prevents the fetch, or null. Throws when aborted.
 */
export async function tryFetch(
  { source }: Pick<ExtractParts, 'source'>,
  number: number,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<Error | null> {
  try {
    dropTraces(await source.fetchBlock(number, toFetchRequest(kinds), { patient: true, signal }));
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return error as Error;
  }
}

/** The named gap of a block whose withdrawals no upstream gives. */
const NO_WITHDRAWALS: NotProved = {
  proof: 'withdrawalsRoot',
  because: 'no upstream gives the withdrawals that the header says the block has',
};

interface Run {
  blocks: StagedBlock[];
  push(record: NamedRecord): Promise<void>;
  close(): Promise<StageRequest>;
}

function createRun({ network, maxFragmentBlocks, deflate }: ExtractParts, kinds: readonly Kind[]): Run {
  const blocks: StagedBlock[] = [];
  const writer = createFragmentWriter(kinds, maxFragmentBlocks, deflate);
  return {
    blocks,
    push(record) {
      const { number, hash, parentHash, timestamp, proofs, notProved, missing } = record.block;
      const gaps = missing.includes('withdrawals') ? [...notProved, NO_WITHDRAWALS] : notProved;
      const linked = blocks.length > 0 ? (['parentLink'] as const) : [];
      blocks.push({
        number,
        hash,
        parentHash,
        timestamp,
        transactionCount: record.transactionCount,
        proofs: [...proofs, ...linked],
        notProved: gaps.length === 0 ? undefined : gaps,
        client: record.client ?? undefined,
      });
      return writer.push(record);
    },
    close: async () => ({ network, blocks, kinds: await writer.close() }),
  };
}
