import { type BlockRange, intersectRanges, KINDS, type Kind, rangesInclude } from '@packhouse/chain';
import type { StageRequest } from '@packhouse/database';
import type { ChainParts } from '../head/reorganise.js';
import type { IngestWindow } from '../job-names.js';
import { isDatabaseFault } from './blame.js';
import { type ExtractParts, extract } from './extract.js';
import { type ExtractFailure, toFailure } from './prove-block.js';
import { stagePatiently } from './stage.js';
import { noteUnknownFields } from './unknown-fields.js';

export type IngestParts = ExtractParts & ChainParts;

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
  const borders = [
    ...new Set(holes.flatMap(({ firstBlock, lastBlock }) => [firstBlock, lastBlock + 1])),
  ].sort((a, b) => a - b);
  return borders.slice(0, -1).flatMap((start, i) => {
    const kinds = KINDS.filter((kind) => rangesInclude(missing.get(kind) ?? [], start));
    return kinds.length === 0
      ? []
      : [{ firstBlock: start, lastBlock: (borders[i + 1] as number) - 1, kinds }];
  });
}

/** A piece is staged in this many runs while it is extracted, so that after a kill only a part is fetched again. */
const RUNS_OF_PIECE = 8;
/** Blocks of a run below which its transaction costs more than it saves. */
const MIN_RUN = 16;

/** What went wrong before with a window. */
interface Suspicion {
  /** Blocks that may be in quarantine. */
  quarantined: readonly BlockRange[];
  /** Whether some block of it failed, in quarantine or in a try before this one. */
  suspected: boolean;
}

/**
 * Extracts and stages a piece; staged blocks leave the quarantine. A run that
 * cannot be staged does not end the others. Throws if Postgres fails.
 */
export async function ingestPiece(
  parts: IngestParts,
  piece: IngestWindow,
  { quarantined, suspected }: Suspicion,
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
      for (const { number } of run.blocks) {
        unstaged.push({ ...toFailure(number, error as Error), kinds, unstaged: true });
      }
      return;
    }
    staged += run.blocks.length;
    const firstBlock = run.blocks[0]?.number ?? piece.firstBlock;
    const range = { firstBlock, lastBlock: run.blocks.at(-1)?.number ?? firstBlock };
    if (intersectRanges(quarantined, [range]).length > 0) {
      await database.quarantine.settle(range, kinds);
    }
  };
  const runBlocks = Math.max(MIN_RUN, Math.ceil((piece.lastBlock - piece.firstBlock + 1) / RUNS_OF_PIECE));
  const { failures, unknownFields, wireBytes } = await extract(parts, piece, signal, {
    runBlocks,
    take,
    suspected,
  });
  await noteUnknownFields(parts, unknownFields);
  context.metrics.count(
    'packhouse_ingested_bytes_total',
    'Bytes of node answers, as they came over the wire',
    { network },
    wireBytes,
  );
  context.metrics.count('packhouse_staged_blocks_total', 'Blocks proved and staged', { network }, staged);
  return {
    staged,
    failed: [...failures.map((failure) => ({ ...failure, kinds, unstaged: false })), ...unstaged],
  };
}
