import type { BlockRange, Kind } from '@packhouse/chain';
import type { FinalStep, UndoStep } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';

/** What is known of the blocks that were delivered, as JSON. */
export interface LinkState {
  /** The next block of each kind. */
  next: Partial<Record<Kind, number>>;
  /** Hashes of delivered blocks that may be needed: of the newest, and those that are not final. */
  hashes: [block: number, hash: string][];
  /** Nothing at or below it is ever undone; -1: not known. */
  final: number;
}

/** Blocks of a step. */
interface LinkedBlocks {
  kinds: readonly Kind[];
  from: number;
  to: number;
  /** Of the block before the first one; null: not known. */
  parent: string | null;
  /** Of the last block. */
  hash: string;
  final: boolean;
}

/**
 * Checks that steps follow each other: each kind's blocks without a gap, each block with the hash of the one before as
 * its parent, and nothing final undone. Each method throws FEED_INVALID.
 */
export interface Links {
  /** Blocks that follow those before; `parent` is null if it is not known. */
  blocks(blocks: LinkedBlocks): void;
  undo(step: Pick<UndoStep, 'block' | 'hash' | 'to'>): void;
  final(step: Pick<FinalStep, 'block' | 'hash'>): void;
  skipped(kind: Kind, range: BlockRange): void;
  /** The state now, with the newest hashes only. */
  state(): LinkState;
}

/** Hashes that a state has at most: a block of a chain with slow finality costs no more than this. */
const MAX_HASHES = 128;

/** The blocks of `17000000-17000041`, as a step has them. */
export function toRange(text: string): BlockRange {
  const [firstBlock, lastBlock] = text.split('-').map(Number) as [number, number];
  return { firstBlock, lastBlock };
}

/** Creates the check, from a state or from nothing. */
export function createLinks(begun?: LinkState): Links {
  const next: LinkState['next'] = { ...begun?.next };
  const hashes = new Map(begun?.hashes);
  let final = begun?.final ?? -1;

  const expectNext = (kind: Kind, block: number): void => {
    const expected = next[kind];
    if (expected === undefined || expected === block) return;
    throw contradiction(`continues ${kind} with block ${block}, expected ${expected}`);
  };
  const expectHash = (block: number, hash: string, of: string): void => {
    const known = hashes.get(block);
    if (known === undefined || known === hash) return;
    throw contradiction(`has ${hash} as ${of} ${block}, expected ${known}`);
  };
  /** Forgets what is final and behind every kind. */
  const trim = (): void => {
    const needed = Math.min(...Object.values(next)) - 1;
    for (const block of hashes.keys()) if (block < needed && block < final) hashes.delete(block);
  };
  return {
    blocks({ kinds, from, to, parent, hash, final: isFinal }) {
      for (const kind of kinds) expectNext(kind, from);
      if (parent !== null) expectHash(from - 1, parent, 'the parent of a block after block');
      // Another kind may have had it before.
      expectHash(to, hash, 'block');
      for (const kind of kinds) next[kind] = to + 1;
      hashes.set(to, hash);
      if (isFinal) final = Math.max(final, to);
      trim();
    },
    undo({ block, hash, to }) {
      if (to.block >= block) throw contradiction(`undoes block ${block} down to block ${to.block}`);
      if (to.block < final) {
        throw contradiction(`undoes blocks from ${to.block + 1} on, and ${final} was final`);
      }
      expectHash(block, hash, 'the undone block');
      if (to.hash !== null) expectHash(to.block, to.hash, 'block');
      for (const [kind, at] of Object.entries(next)) next[kind as Kind] = Math.min(at, to.block + 1);
      for (const known of hashes.keys()) if (known > to.block) hashes.delete(known);
      if (to.hash !== null) hashes.set(to.block, to.hash);
    },
    final({ block, hash }) {
      expectHash(block, hash, 'the final block');
      final = Math.max(final, block);
      trim();
    },
    skipped(kind, { firstBlock, lastBlock }) {
      expectNext(kind, firstBlock);
      next[kind] = lastBlock + 1;
    },
    state: () => ({
      next: { ...next },
      hashes: [...hashes].sort(([a], [b]) => a - b).slice(-MAX_HASHES),
      final,
    }),
  };
}

/** The error of a feed that says something else than before. */
export function contradiction(what: string): PackhouseError {
  return new PackhouseError({
    code: 'FEED_INVALID',
    message: `The feed contradicts itself: it ${what}.`,
    hint: 'Run it again: it continues behind what was delivered. If it fails again, tell the operator of the gateway.',
  });
}
