import { KINDS, type Kind, rangesInclude } from '@packhouse/chain';
import type { FeedStaged, FeedWindow, PublishedFile, StagedPart } from '@packhouse/database';
import { getOrAdd } from '@packhouse/runtime';

/** A staged block with the kinds of it that are staged. */
export interface StagedHere extends FeedStaged {
  kinds: readonly Kind[];
}

/** The newest blocks of a network, with what was read about it since: shared by all feeds of a process. */
export interface View {
  readonly window: FeedWindow;
  /** Rises with each time that it was read. */
  readonly serial: number;
  /** A staged block of the window. */
  staged(block: number): StagedHere | undefined;
  /** The published file of the window that holds a block. */
  bundle(kind: Kind, block: number): PublishedFile | undefined;
  /** Asked once, whoever else asks the same. */
  once<T>(question: string, ask: () => Promise<T>): Promise<T>;
}

/** Creates the view of a window. */
export function createView(window: FeedWindow, serial: number): View {
  const staged = indexStaged(window);
  const asked = new Map<string, Promise<unknown>>();
  return {
    window,
    serial,
    staged,
    bundle: (kind, block) => holding(window.bundles.get(kind) ?? [], block),
    once: <T>(question: string, ask: () => Promise<T>) =>
      getOrAdd(asked, question, () => {
        const answer = ask();
        // What failed is asked again.
        answer.catch(() => asked.delete(question));
        return answer;
      }) as Promise<T>,
  };
}

/** Finds the staged blocks of a part by number. */
export function indexStaged({ blocks, ranges }: StagedPart): (block: number) => StagedHere | undefined {
  const [first] = blocks;
  // Without a gap the place of a block follows from its number.
  const isRun = first !== undefined && blocks.at(-1)?.number === first.number + blocks.length - 1;
  const byNumber = isRun ? undefined : new Map(blocks.map((block) => [block.number, block]));
  const found = new Map<number, StagedHere>();
  return (number) => {
    const block = byNumber === undefined ? blocks[number - (first?.number ?? 0)] : byNumber.get(number);
    if (block === undefined) return undefined;
    return getOrAdd(found, number, () => ({
      ...block,
      kinds: KINDS.filter((kind) => rangesInclude(ranges.get(kind) ?? [], number)),
    }));
  };
}

/** The file of an ascending list that holds a block. */
export function holding(files: readonly PublishedFile[], block: number): PublishedFile | undefined {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((files[middle] as PublishedFile).lastBlock < block) low = middle + 1;
    else high = middle;
  }
  const file = files[low];
  return file !== undefined && file.firstBlock <= block ? file : undefined;
}
