import {
  type BlockRange,
  intersectRanges,
  type Kind,
  subtractRanges,
  type TableName,
  unionRanges,
} from '@packhouse/chain';
import type { LakeFile, NetworkDatabase, PublishedFile } from '@packhouse/database';
import { kindsOf } from './table-rows.js';

/** What a table is made of. */
export interface LakeSource {
  network: string;
  chainId: number;
  kind: TableName;
  /** The kinds that its rows are made of, as `needsOf`; how large files are depends on the first one's bundles. */
  needs: readonly Kind[];
}

/** By kind, the blocks whose rows are without its data, ascending. */
export type Lacks = LakeFile['lacks'];

/** The bundles of a range by kind, and what of the range can be written. */
export interface Published {
  files: Partial<Record<Kind, readonly PublishedFile[]>>;
  /** The blocks that can be written. */
  runs: BlockRange[];
  /** Those of them whose rows are without a kind. */
  lacks: Lacks;
  /** Those of them whose kind is still to come. */
  late: Lacks;
}

/**
 * Finds which blocks can be written: those whose first kind is published. What the other kinds add is waited for if it is
 * staged or being fetched, and the table does not have the block yet; if it is quarantined, or requested by nobody, the
 * rows are written without it. Null: there are more than `limit` bundles of a kind.
 */
export async function readPublished(
  data: NetworkDatabase,
  { kind, needs }: LakeSource,
  range: BlockRange,
  { limit, present }: { limit: number; present: readonly BlockRange[] },
): Promise<Published | null> {
  const files: Partial<Record<Kind, PublishedFile[]>> = {};
  for (const each of needs) {
    const found = await data.bundles.files(each, range, limit + 1);
    if (found.length > limit) return null;
    files[each] = found;
  }
  const [first, ...beside] = kindsOf(kind);
  const all = intersectRanges([range], unionRanges(files[first as Kind] ?? []));
  const lacks: Partial<Record<Kind, BlockRange[]>> = {};
  const late: Partial<Record<Kind, BlockRange[]>> = {};
  let runs = all;
  for (const each of beside) {
    const absent = subtractRanges(all, unionRanges(files[each] ?? []));
    if (absent.length === 0) continue;
    lacks[each] = absent;
    if (!needs.includes(each)) continue;
    const coming = await stillToCome(data, each, absent);
    late[each] = intersectRanges(coming, unionRanges(present));
    runs = subtractRanges(runs, subtractRanges(coming, late[each]));
  }
  return { files, runs, lacks, late };
}

/**
 * What the rows of a file lack. While a kind of one of its blocks is still to come, all lack on what they lacked: so a file
 * is written again once, not with each bundle that arrives.
 */
export function lacksWithin(
  range: BlockRange,
  { lacks, late }: Pick<Published, 'lacks' | 'late'>,
  present: readonly LakeFile[],
): Lacks {
  const within: Partial<Record<Kind, BlockRange[]>> = {};
  for (const [each, absent] of Object.entries(lacks) as [Kind, readonly BlockRange[]][]) {
    const waits = intersectRanges([range], late[each] ?? []).length > 0;
    const before = waits ? present.flatMap((file) => file.lacks[each] ?? []) : [];
    const found = intersectRanges([range], unionRanges([...absent, ...before]));
    if (found.length > 0) within[each] = found;
  }
  return within;
}

/** Those of the blocks, which are not published, that are staged or being fetched. */
async function stillToCome(
  data: NetworkDatabase,
  kind: Kind,
  absent: readonly BlockRange[],
): Promise<BlockRange[]> {
  const firstBlock = absent[0]?.firstBlock as number;
  const lastBlock = absent.at(-1)?.lastBlock as number;
  const { staged, quarantined } = await data.coverage(kind, { firstBlock, lastBlock });
  const requested = intersectRanges(absent, (await data.backfills.runs()).active.get(kind) ?? []);
  return intersectRanges(absent, unionRanges([...staged, ...subtractRanges(requested, quarantined)]));
}
