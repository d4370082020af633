import { generateChain, type RecordedBlock } from '@packhouse/replay-node';

/** What the invariants hold the system against: the chain as it is, and as it ever was. */
export interface HonestChain {
  readonly first: number;
  head(): number;
  finalized(): number;
  /** The block of that number on the chain now. */
  block(number: number): RecordedBlock | undefined;
  /** Every block that ever had this number, abandoned ones too. */
  ever(number: number): readonly RecordedBlock[];
}

/** A chain that grows. */
export interface GrowingChain extends HonestChain {
  blocks(): readonly RecordedBlock[];
  grow(count: number): void;
  /** Everything up to `lag` blocks behind the head is final; what was final stays it. */
  finalize(lag: number): void;
  /** Replaces the newest blocks, never final ones, by as many and `extra` more. Returns how many were abandoned. */
  reorganise(depth: number, extra: number): number;
  /** How many blocks a reorganisation may abandon now. */
  loose(): number;
}

/** Starts a chain of `length` blocks, all but the last three final. */
export function createHonestChain(options: {
  seed: number;
  first: number;
  length: number;
  txsPerBlock?: number;
}): GrowingChain {
  const { seed, first, txsPerBlock = 4 } = options;
  const size = { txsPerBlock, logsPerTx: 2, tracesPerTx: 3 };
  let serial = 0;
  let blocks: RecordedBlock[] = [];
  const ever = new Map<number, RecordedBlock[]>();

  const append = (count: number): void => {
    if (count <= 0) return;
    serial += 1;
    const tip = blocks.at(-1);
    const made = generateChain({
      ...size,
      length: count,
      seed: seed * 100_003 + serial,
      ...(tip === undefined
        ? { startNumber: first }
        : {
            after: { number: tip.number, hash: tip.block.hash, timestamp: Number(tip.block.timestamp) },
          }),
    });
    blocks = [...blocks, ...made];
    for (const block of made) ever.set(block.number, [...(ever.get(block.number) ?? []), block]);
  };
  append(options.length);
  const head = (): number => first + blocks.length - 1;
  let final = Math.max(first, head() - 3);

  return {
    first,
    head,
    finalized: () => final,
    block: (number) => blocks[number - first],
    ever: (number) => ever.get(number) ?? [],
    blocks: () => blocks,
    loose: () => head() - final,
    grow: append,
    finalize(lag) {
      final = Math.max(final, head() - lag);
    },
    reorganise(depth, extra) {
      const gone = Math.min(depth, head() - final);
      if (gone <= 0) return 0;
      blocks = blocks.slice(0, blocks.length - gone);
      append(gone + extra);
      return gone;
    },
  };
}
