import {
  type BlockRange,
  countBlocks,
  intersectRanges,
  type Kind,
  subtractRanges,
  unionRanges,
} from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import { missingPieces } from '../ingest/ingest-piece.js';
import type { IngestWindow } from '../job-names.js';

/** Blocks of one kind of a range; a block counts once, in the first state that fits. */
export interface KindStanding {
  kind: Kind;
  published: number;
  staged: number;
  /** Ordered by an active range already, and not there yet. */
  ordered: number;
  missing: number;
}

/**
 * What of a range would have to be fetched if it was ordered now. `pieces`: the missing blocks, ascending, in windows
 * in which every block lacks the same kinds.
 */
export async function findMissing(
  database: NetworkDatabase,
  range: BlockRange,
  kinds: readonly Kind[],
): Promise<{ standing: KindStanding[]; pieces: IngestWindow[] }> {
  const { active } = await database.backfills.runs();
  const missing = new Map<Kind, BlockRange[]>();
  const standing: KindStanding[] = [];
  for (const kind of kinds) {
    const covered = await database.coverage(kind, range);
    const published = intersectRanges([range], unionRanges(covered.published));
    const staged = subtractRanges(intersectRanges([range], unionRanges(covered.staged)), published);
    const absent = subtractRanges([range], unionRanges([...published, ...staged]));
    const left = subtractRanges(absent, active.get(kind) ?? []);
    missing.set(kind, left);
    standing.push({
      kind,
      published: countBlocks(published),
      staged: countBlocks(staged),
      ordered: countBlocks(absent) - countBlocks(left),
      missing: countBlocks(left),
    });
  }
  return { standing, pieces: missingPieces(missing) };
}
