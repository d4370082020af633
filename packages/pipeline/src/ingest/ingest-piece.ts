import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { StageRequest } from '@packhouse/database';
import type { IngestWindow } from '../job-names.js';
import { intersectRanges, rangesInclude } from '../ranges.js';
import { isDatabaseFault } from './blame.js';
import { type ExtractParts, extract } from './extract.js';
import type { ExtractFailure } from './prove-block.js';
import { type StageParts, stagePatiently } from './stage.js';
import { noteUnknownFields } from './unknown-fields.js';

export type IngestParts = ExtractParts & StageParts;

/** A block that failed, and the kinds it was asked for. */
export interface Failed extends ExtractFailure {
  kinds: readonly Kind[];
  /** It was extracted, and could not be staged. */
  unstaged: boolean;
}

/**
 * Cuts the missing blocks of several kinds into windows in which every block is missing in every kind.
 *
 * A fragment that covers an already staged block cannot be staged, so a window must have the same borders in all its
 * kinds.
 */
export function missingPieces(missing: ReadonlyMap<Kind, readonly BlockRange[]>): IngestWindow[] {
  const holes = [...missing.values()].flat();
  const borders = [...new Set(holes.flatMap(({ start, end }) => [start, end + 1]))].sort((a, b) => a - b);
  return borders.slice(0, -1).flatMap((start, i) => {
    const kinds = KINDS.filter((kind) => rangesInclude(missing.get(kind) ?? [], start));
    return kinds.length === 0 ? [] : [{ start, end: (borders[i + 1] as number) - 1, kinds }];
  });
}

/** A piece is staged in this many runs while it is extracted, so that after a kill only a part is fetched again. */
const RUNS_OF_PIECE = 4;
/** Blocks of a run below which its transaction costs more than it saves. */
const SMALLEST_RUN = 16;

/**
 * Extracts and stages a piece; staged blocks leave the quarantine (`quarantined`: those that may be in it). A run that
 * cannot be staged does not end the others. Throws if Postgres fails.
 */
export async function ingestPiece(
  parts: IngestParts,
  piece: IngestWindow,
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; failed: Failed[] }> {
  const { context, database, network } = parts;
  const { kinds } = piece;
  const unstaged: Failed[] = [];
  let staged = 0;
  const take = async (run: StageRequest): Promise<void> => {
    try {
      await stagePatiently(parts, run, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isDatabaseFault(error)) throw error;
      const failure = { error: error as Error, upstream: null, payloadDigest: null, tried: [], doubts: [] };
      for (const { number } of run.blocks) unstaged.push({ ...failure, number, kinds, unstaged: true });
      return;
    }
    staged += run.blocks.length;
    const start = run.blocks[0]?.number ?? piece.start;
    const range = { start, end: run.blocks.at(-1)?.number ?? start };
    if (intersectRanges(quarantined, [range]).length > 0) {
      await database.quarantine.settle(range, kinds);
    }
  };
  const runBlocks = Math.max(SMALLEST_RUN, Math.ceil((piece.end - piece.start + 1) / RUNS_OF_PIECE));
  const { failures, unknownFields, wireBytes } = await extract(parts, piece, signal, { runBlocks, take });
  await noteUnknownFields(parts, unknownFields);
  context.metrics
    .counter('packhouse_ingested_bytes_total', 'Bytes of node answers, as they came over the wire', [
      'network',
    ])
    .inc({ network }, wireBytes);
  context.metrics
    .counter('packhouse_staged_blocks_total', 'Blocks proved and staged', ['network'])
    .inc({ network }, staged);
  return {
    staged,
    failed: [...failures.map((failure) => ({ ...failure, kinds, unstaged: false })), ...unstaged],
  };
}
