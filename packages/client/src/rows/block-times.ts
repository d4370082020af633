import { readTimes } from '@packhouse/bundle';
import type { SealedEntry } from '@packhouse/manifest';
import { type FileFilter, listFilters } from '../fetch/list-filters.js';
import type { Mirror, MirrorPlan } from '../mirror/mirror.js';
import { trustedFilter } from './choose-files.js';

/** When the blocks of the files of a plan are of, by their signed filters. */
export interface BlockTimes {
  /** Of all blocks of a file, in seconds since 1970; null: no filter tells it that can be trusted. Throws as `Http.get`. */
  of(entry: SealedEntry): Promise<readonly number[] | null>;
}

/** Reads times as they are asked for: a page of filters at a time if the files ascend. */
export function openBlockTimes({ options, trust }: Mirror, { range, times }: MirrorPlan): BlockTimes {
  let pages: AsyncGenerator<FileFilter> | null = null;
  let next: FileFilter | null = null;
  let last = -1;
  const advance = async (): Promise<void> => {
    const got = await pages?.next();
    next = got?.done === false ? got.value : null;
  };
  return {
    async of(entry) {
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
    },
  };
}
