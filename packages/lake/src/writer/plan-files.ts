import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database, LakeFile } from '@packhouse/database';
import { getOrAdd } from '@packhouse/runtime';
import { cellOf, createFits, type Grid, layOut, rangeOf } from './layout.js';
import { type LakeSource, lacksWithin, type Published, readPublished } from './ready-blocks.js';
import { expectedBytes } from './table-rows.js';
import { toWanted, type WantedFile } from './write-file.js';

/** Bundles of one file at most, if smaller ones are allowed. */
const MAX_BUNDLES = 20_000;

/** The files that are to be in a region, and those that are. */
interface FilePlan {
  region: BlockRange;
  wanted: WantedFile[];
  present: LakeFile[];
}

/**
 * Plans the files around a cell: one of several cells if they are all complete and it is not too large; else those of the cell,
 * and of all other cells whose rows are in a file with those of this one.
 */
export async function planFiles(
  { database, grid }: { database: Database; grid: Grid },
  source: LakeSource,
  cell: BlockRange,
): Promise<FilePlan> {
  const { kind, needs } = source;
  const data = database.network(source.network);
  const { bundles, lake } = data;
  const first = needs[0] as Kind;
  // No file crosses the borders of this, and nothing beyond is looked at.
  const largest = rangeOf(cell.firstBlock, grid.larger[0] ?? (grid.sizes[0] as number));
  const present = await lake.newest(kind, largest);
  const fitsOf = ({ files }: Published): ((range: BlockRange) => boolean) =>
    createFits(files[first] ?? [], (bytes) => expectedBytes(kind, bytes), grid);
  const read = (range: BlockRange, limit: number): Promise<Published | null> =>
    readPublished(data, source, range, { limit, present });
  /** Null: not all blocks of the range can be in one file. */
  const readWhole = async (range: BlockRange): Promise<Published | null> => {
    // Most often the end is not published yet.
    const last = await bundles.files(first, { ...range, firstBlock: range.lastBlock }, 1);
    const published = last.length === 0 ? null : await read(range, MAX_BUNDLES);
    const [run] = published?.runs ?? [];
    const isWhole = run?.firstBlock === range.firstBlock && run.lastBlock === range.lastBlock;
    return isWhole && published !== null && fitsOf(published)(range) ? published : null;
  };

  const known = new Map<string, Promise<Published | null>>();
  /** The largest range of several cells that begins or lies at the block, is within another, and can be one file. */
  const findWhole = async (block: number, within: BlockRange | null) => {
    for (const size of grid.larger) {
      const range = rangeOf(block, size);
      if (within !== null && (range.firstBlock < within.firstBlock || range.lastBlock > within.lastBlock))
        continue;
      const published = await getOrAdd(known, `${range.firstBlock} ${size}`, () => readWhole(range));
      if (published !== null) return { range, published };
    }
    return null;
  };
  const plan = async (region: BlockRange): Promise<WantedFile[]> => {
    const wanted: WantedFile[] = [];
    for (let block = region.firstBlock; block <= region.lastBlock; ) {
      const whole = await findWhole(block, region);
      const range = whole?.range ?? cellOf(block, grid);
      const published = whole?.published ?? (await read(range, range.lastBlock - range.firstBlock + 1));
      if (published === null) throw new RangeError('a block is in two bundles');
      const files = whole === null ? layOut(range, published.runs, fitsOf(published), grid) : [range];
      for (const each of files)
        wanted.push(toWanted(kind, each, published.files, lacksWithin(each, published, present)));
      block = range.lastBlock + 1;
    }
    return wanted;
  };

  const whole = (await findWhole(cell.firstBlock, null))?.range ?? cell;
  // Files of several cells that are to be apart: both begin at multiples of their lengths, so one is within the other.
  const around = present.find(({ firstBlock, lastBlock }) => {
    return firstBlock <= whole.firstBlock && lastBlock >= whole.lastBlock;
  });
  const { firstBlock, lastBlock } = around ?? whole;
  const region = { firstBlock, lastBlock };
  const within = present.filter((file) => file.firstBlock >= firstBlock && file.firstBlock <= lastBlock);
  return { region, wanted: await plan(region), present: within };
}
