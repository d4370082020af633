import { hashText } from '../connection/codes.js';
import type { StagedBlock, StageRequest } from '../database.js';
import type { StagedBlockRow } from './select-blocks.js';
import type { BundleEndsRow } from './select-bundle-ends.js';
import { stageConflict } from './stage-conflict.js';

/**
 * Compares the hashes of a request with themselves, with what is staged from start-1 to end+1, and with the ends
 * of bundles that touch it. Throws STAGE_CONFLICT.
 */
export function checkLinks(
  request: StageRequest,
  staged: readonly StagedBlockRow[],
  bundles: readonly BundleEndsRow[],
): void {
  const expected = knownHashes(staged, bundles);
  let previous: StagedBlock | undefined;
  for (const block of request.blocks) {
    const { network } = request;
    const number = block.number - 1;
    if (previous !== undefined && previous.hash !== block.parentHash) {
      throw stageConflict({
        network,
        number,
        expected: previous.hash,
        got: block.parentHash,
        where: 'in the same run',
        by: block.number,
        published: false,
      });
    }
    compare(network, expected, number, block.parentHash);
    compare(network, expected, block.number, block.hash);
    previous = block;
  }
}

interface KnownHash {
  hash: string;
  where: string;
  /** The block that says so. */
  by: number;
  published: boolean;
}

/** Hashes by number. A block also tells its parent's. */
function knownHashes(
  staged: readonly StagedBlockRow[],
  bundles: readonly BundleEndsRow[],
): Map<number, KnownHash> {
  const known = new Map<number, KnownHash>();
  const add = (number: number, hash: Buffer, where: string, by: number, published: boolean): void => {
    if (!known.has(number)) known.set(number, { hash: hashText(hash), where, by, published });
  };
  // What is published is said first: it is final, whoever else disagrees.
  for (const row of bundles) {
    const name = `as bundle ${row.start}-${row.end} says`;
    add(row.start, row.first_hash, name, row.start, true);
    add(row.start - 1, row.first_parent_hash, name, row.start, true);
    add(row.end, row.last_hash, name, row.end, true);
  }
  for (const row of staged) {
    add(row.block, row.hash, 'as it is staged', row.block, false);
    add(row.block - 1, row.parent_hash, `as staged block ${row.block} says`, row.block, false);
  }
  return known;
}

function compare(network: string, known: Map<number, KnownHash>, number: number, got: string): void {
  const entry = known.get(number);
  if (entry === undefined || entry.hash === got) return;
  const { by, hash, published, where } = entry;
  throw stageConflict({ network, number, expected: hash, got, where, by, published });
}
