import { readFile, rm } from 'node:fs/promises';
import { readBundle } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { type Mirror, type MirrorPlan, openMirror, planMirror } from '../mirror/mirror.js';
import { type MirrorFile, mirrorFiles } from '../mirror/mirror-files.js';

/** The receipts of blocks, read in step with their transactions. */
export interface ReceiptSource {
  /** Their text; null: they are not published, or their file is faulty. Ascending. Throws as `mirrorFiles`, BUNDLE_INVALID. */
  readonly of: (block: number) => Promise<Buffer | null>;
  /** Blocks whose receipts were asked for and not there. */
  readonly missing: number;
  close(): Promise<void>;
}

/**
 * Opens the receipts of what a pull of transactions loads, in a mirror of their own in `folder`; a file is in memory at
 * a time. `keep`: files stay. Throws as `openMirror` and `planMirror`.
 */
export async function openReceipts(
  { options, manifest }: Mirror,
  { rows, skip, range }: MirrorPlan,
  { folder, keep }: { folder: string; keep: boolean },
): Promise<ReceiptSource> {
  const mirror = await openMirror({ ...options, log: undefined, folder, kind: 'receipts' });
  const loaded = [...rows].filter((_, at) => skip?.[at] !== 1).map((row) => manifest.rows.at(row));
  const plan = await planOf(mirror, range, keep).catch(async (error: unknown) => {
    await mirror.close();
    throw error;
  });
  let missing = 0;
  const files = plan === null ? null : mirrorFiles(mirror, besideOf(mirror, plan, loaded));
  let file: { range: BlockRange; records: Buffer[] | null } | null = null;
  const read = async (found: MirrorFile, block: number): Promise<Buffer[] | null> => {
    if (found.state !== 'present' && found.state !== 'downloaded') return null;
    const passed = found.range.lastBlock < block;
    const records = passed ? null : (await readBundle(await readFile(found.path))).records;
    if (!keep) await rm(found.path, { force: true });
    return records;
  };
  return {
    async of(block) {
      while (file === null || file.range.lastBlock < block) {
        const next = await files?.next();
        if (next === undefined || next.done === true) break;
        file = { range: next.value.range, records: await read(next.value, block) };
      }
      const text = file?.records?.[block - file.range.firstBlock];
      if (text !== undefined) return text;
      missing += 1;
      return null;
    },
    get missing() {
      return missing;
    },
    async close() {
      await files?.return(undefined);
      await mirror.close();
    },
  };
}

/** The plan of a range, or null if no receipts are published. */
async function planOf(
  mirror: Mirror,
  { firstBlock, lastBlock }: BlockRange,
  keep: boolean,
): Promise<MirrorPlan | null> {
  const bound = (number: number) => ({ type: 'block' as const, number });
  try {
    const ends = { from: bound(firstBlock), to: bound(lastBlock) };
    return await planMirror(mirror, { ...ends, partial: true, passing: !keep });
  } catch (error) {
    if (isPackhouseError(error, 'RANGE_INCOMPLETE')) return null;
    throw error;
  }
}

/** The plan without files that have no block of those that are loaded; both ascend. */
function besideOf({ manifest }: Mirror, plan: MirrorPlan, loaded: readonly BlockRange[]): MirrorPlan {
  let next = 0;
  const skip = Uint8Array.from(plan.rows, (row) => {
    const { firstBlock, lastBlock } = manifest.rows.at(row);
    while (next < loaded.length && (loaded[next] as BlockRange).lastBlock < firstBlock) next += 1;
    const first = loaded[next]?.firstBlock;
    return first === undefined || first > lastBlock ? 1 : 0;
  });
  return { ...plan, skip };
}
