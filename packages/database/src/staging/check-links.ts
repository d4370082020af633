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
}

/** Hashes by number. A block also tells its parent's. */
function knownHashes(
  staged: readonly StagedBlockRow[],
  bundles: readonly BundleEndsRow[],
): Map<number, KnownHash> {
  const known = new Map<number, KnownHash>();
  const add = (number: number, hash: Buffer, where: string): void => {
    if (!known.has(number)) known.set(number, { hash: hashText(hash), where });
  };
  for (const row of staged) {
    add(row.block, row.hash, 'as it is staged');
    add(row.block - 1, row.parent_hash, `as staged block ${row.block} says`);
  }
  for (const row of bundles) {
    const name = `as bundle ${row.start}-${row.end} says`;
    add(row.start, row.first_hash, name);
    add(row.start - 1, row.first_parent_hash, name);
    add(row.end, row.last_hash, name);
  }
  return known;
}

function compare(network: string, known: Map<number, KnownHash>, number: number, got: string): void {
  const entry = known.get(number);
  if (entry === undefined || entry.hash === got) return;
  throw stageConflict({ network, number, expected: entry.hash, got, where: entry.where });
}
