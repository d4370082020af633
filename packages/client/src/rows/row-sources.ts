import type { RowSource } from '@packhouse/rows';
import type { MirrorFile } from '../mirror/mirror-files.js';
import type { BlockTimes } from './block-times.js';

type Source = ({ path: string } | { bytes: Uint8Array }) & Pick<RowSource, 'chainId' | 'fileFrom' | 'times'>;

/** What the rows of a file are read of, ascending: the file, or the parts that were loaded; nothing of one left out. */
export function toRowSources(file: MirrorFile, times: BlockTimes): Source[] {
  const { entry, range, path } = file;
  const { chainId } = entry;
  if (file.state === 'skipped' || file.state === 'faulty') return [];
  if (file.state !== 'partial')
    return [{ path, chainId, fileFrom: range.firstBlock, times: () => times.of(entry) }];
  return file.parts.map(({ range: { firstBlock }, bytes }) => ({
    bytes,
    chainId,
    fileFrom: firstBlock,
    times: async () => (await times.of(entry))?.slice(firstBlock - entry.from) ?? null,
  }));
}
