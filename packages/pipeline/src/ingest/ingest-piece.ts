import type { BlockRange, Kind } from '@packhouse/chain';
import type { StageRequest } from '@packhouse/database';
import { intersectRanges } from '../ranges.js';
import { isDatabaseFault } from './blame.js';
import { type ExtractFailure, type ExtractParts, extract } from './extract.js';
import type { Piece } from './missing-pieces.js';
import type { StageParts } from './stage.js';
import { stagePatiently } from './stage-patiently.js';

export type IngestParts = ExtractParts & StageParts;

/** A block that could not be had, and the kinds it was asked for. */
export interface Failed {
  failure: ExtractFailure;
  kinds: readonly Kind[];
  /** It was had, and could not be staged. */
  unstaged: boolean;
}

/** A range is staged in so many runs, while it is extracted: what a kill takes is fetched again in part only. */
const RUNS_OF_WINDOW = 4;
/** Below this a transaction costs more than it saves. */
const SMALLEST_RUN = 16;

/**
 * Extracts and stages a range of which all the kinds are missing; what was quarantined of it and is staged now leaves
 * the quarantine. A run that cannot be staged fails by itself. Throws where Postgres is in trouble.
 */
export async function ingestPiece(
  parts: IngestParts,
  { range, kinds }: Piece,
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; failed: Failed[] }> {
  const { context, database, network } = parts;
  const unstaged: Failed[] = [];
  let staged = 0;
  const take = async (run: StageRequest): Promise<void> => {
    const first = run.blocks[0]?.number ?? range.start;
    const held = { start: first, end: run.blocks.at(-1)?.number ?? first };
    try {
      await stagePatiently(parts, run, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isDatabaseFault(error)) throw error;
      for (const { number } of run.blocks) {
        const failure = { number, error: error as Error, upstream: null, payloadDigest: null, tried: [] };
        unstaged.push({ failure, kinds, unstaged: true });
      }
      return;
    }
    staged += run.blocks.length;
    if (intersectRanges(quarantined, [held]).length > 0) {
      await database.quarantine.settle(network, held, kinds);
    }
  };
  const { failures, wireBytes } = await extract(parts, range, kinds, signal, {
    runBlocks: Math.max(SMALLEST_RUN, Math.ceil((range.end - range.start + 1) / RUNS_OF_WINDOW)),
    take,
  });
  context.metrics
    .counter('packhouse_ingested_bytes_total', 'Bytes of node answers, as they came over the wire', [
      'network',
    ])
    .inc({ network }, wireBytes);
  const failed: Failed[] = failures.map((failure) => ({ failure, kinds, unstaged: false }));
  failed.push(...unstaged);
  context.metrics
    .counter('packhouse_staged_blocks_total', 'Blocks proved and staged', ['network'])
    .inc({ network }, staged);
  return { staged, failed };
}
