import { readTimes } from '@packhouse/bundle';
import type { SealedEntry } from '@packhouse/manifest';
import type { RowSource } from '@packhouse/rows';
import { type FileFilter, listFilters } from '../fetch/list-filters.js';
import type { Mirror, MirrorPlan } from '../mirror/mirror.js';
import type { MirrorFile } from '../mirror/mirror-files.js';
import { trustedFilter } from './choose-files.js';

type Source = ({ path: string } | { bytes: Uint8Array }) & Pick<RowSource, 'chainId' | 'fileFrom' | 'times'>;

/**
 * Says what the rows of a file of a plan are read of, ascending: the file, or the parts that were loaded; nothing of one
 * left out. The times of blocks are asked for as they are needed.
 */
export function openRowSources(mirror: Mirror, plan: MirrorPlan): (file: MirrorFile) => Source[] {
  const timesOf = openBlockTimes(mirror, plan);
  return (file) => {
    const { entry, range, path } = file;
    const { chainId } = entry;
    if (file.state === 'skipped' || file.state === 'faulty') return [];
    if (file.state !== 'partial')
      return [{ path, chainId, fileFrom: range.firstBlock, times: () => timesOf(entry) }];
    return file.parts.map(({ range: { firstBlock }, bytes }) => ({
      bytes,
      chainId,
      fileFrom: firstBlock,
      times: async () => (await timesOf(entry))?.slice(firstBlock - entry.from) ?? null,
    }));
  };
}

/**
 * Reads when all blocks of a file are of, in seconds since 1970, by its signed filter; null: no filter tells it that can
 * be trusted. A page of filters at a time if the files ascend. Throws as `Http.get`.
 */
function openBlockTimes(
  { options, trust }: Mirror,
  { range, times }: MirrorPlan,
): (entry: SealedEntry) => Promise<readonly number[] | null> {
  let pages: AsyncGenerator<FileFilter> | null = null;
  let next: FileFilter | null = null;
  let last = -1;
  const advance = async (): Promise<void> => {
    const got = await pages?.next();
    next = got?.done === false ? got.value : null;
  };
  return async (entry) => {
    const blocks = entry.to - entry.from + 1;
    const known = times?.get(entry.from);
    if (known !== undefined) return readTimes(known, blocks);
    if (pages === null || entry.from < last) {
      const blocks = { kind: options.kind, firstBlock: entry.from, lastBlock: range.lastBlock };
      pages = listFilters(options, blocks, options.signal);
      await advance();
    }
    last = entry.from;
    while (next !== null && next.firstBlock < entry.from) await advance();
    if (next === null || next.firstBlock !== entry.from) return null;
    const filter = trustedFilter(next, entry, trust.keys);
    return filter === null ? null : readTimes(filter.times, blocks);
  };
}
