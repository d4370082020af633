import { type BlockRange, subtractRanges } from '@packhouse/chain';

/** Blocks of which a copy has every entry up to a sequence, as the gateway said. */
export interface KnownPart extends BlockRange {
  through: number;
}

/** Blocks whose entries behind a sequence are missing. */
interface MissingPart extends BlockRange {
  after: number;
}

/** Of all blocks: the whole manifest. */
export const ALL_BLOCKS: BlockRange = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

/** Whether the parts are the whole manifest. */
export function isWhole([first, ...others]: readonly KnownPart[]): boolean {
  return (
    others.length === 0 &&
    first?.firstBlock === ALL_BLOCKS.firstBlock &&
    first.lastBlock === ALL_BLOCKS.lastBlock
  );
}

/** What of a range is to be asked for until it is known up to `newest`, ascending by block. */
export function missingParts(
  known: readonly KnownPart[],
  range: BlockRange,
  newest: number,
): readonly MissingPart[] {
  const old = known.flatMap(({ firstBlock, lastBlock, through }) => {
    const part = {
      firstBlock: Math.max(firstBlock, range.firstBlock),
      lastBlock: Math.min(lastBlock, range.lastBlock),
    };
    return through >= newest || part.firstBlock > part.lastBlock ? [] : [{ ...part, after: through }];
  });
  const unknown = subtractRanges([range], known).map((part) => ({ ...part, after: -1 }));
  return joined([...old, ...unknown], (a, b) => a.after === b.after);
}

/** The parts, of which `range` is known up to `through`. */
export function withPart(known: readonly KnownPart[], range: BlockRange, through: number): KnownPart[] {
  const others = known.flatMap((part) =>
    subtractRanges([part], [range]).map((rest) => ({ ...rest, through: part.through })),
  );
  return joined([...others, { ...range, through }], (a, b) => a.through === b.through);
}

/** Sorts ranges, and joins those that touch and are alike. */
function joined<T extends BlockRange>(ranges: readonly T[], alike: (a: T, b: T) => boolean): T[] {
  const list: T[] = [];
  for (const range of [...ranges].sort((a, b) => a.firstBlock - b.firstBlock)) {
    const last = list.at(-1);
    if (last !== undefined && last.lastBlock + 1 === range.firstBlock && alike(last, range)) {
      last.lastBlock = range.lastBlock;
    } else list.push({ ...range });
  }
  return list;
}
