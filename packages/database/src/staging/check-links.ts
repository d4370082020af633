import { PackhouseError } from '@packhouse/runtime';
import { hashText } from '../connection/codes.js';
import { statement } from '../connection/connections.js';
import type { Named, StagedBlock, StageRequest } from '../contract/rows.js';
import type { StagedBlockRow } from './rows.js';

/**
 * $1 network id, $2 start, $3 end: the bundles of all kinds that touch start..end.
 *
 * Two walks along the primary key for each kind: the last bundle that starts at or before `start`, and those that
 * start after it.
 */
export const selectBundleEnds = statement(
  'staging/select-bundle-ends',
  `SELECT kinds.kind, b.start, b."end", b.first_hash, b.first_parent_hash, b.last_hash
   FROM generate_series(0, 4) AS kinds (kind),
   LATERAL (
     (SELECT start_block AS start, end_block AS "end", first_hash, first_parent_hash, last_hash
      FROM packhouse.bundle
      WHERE network_id = $1 AND kind = kinds.kind AND start_block <= $2
      ORDER BY start_block DESC
      LIMIT 1)
     UNION ALL
     SELECT start_block, end_block, first_hash, first_parent_hash, last_hash
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = kinds.kind AND start_block > $2 AND start_block <= $3
   ) AS b
   WHERE b."end" >= $2`,
);

/** Both ends of a bundle. */
export interface BundleEndsRow {
  kind: number;
  start: number;
  end: number;
  first_hash: Buffer;
  first_parent_hash: Buffer;
  last_hash: Buffer;
}

/**
 * Compares the hashes of a request with each other, with the blocks staged from start-1 to end+1, and with the ends
 * of bundles that touch it. Throws STAGE_CONFLICT.
 */
export function checkLinks(
  request: Named<StageRequest>,
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
  /** The block that the hash comes from. */
  by: number;
  published: boolean;
}

/** Hashes by number. A block also has its parent's hash. */
function knownHashes(
  staged: readonly StagedBlockRow[],
  bundles: readonly BundleEndsRow[],
): Map<number, KnownHash> {
  const known = new Map<number, KnownHash>();
  const add = (number: number, hash: Buffer, where: string, by: number, published: boolean): void => {
    if (!known.has(number)) known.set(number, { hash: hashText(hash), where, by, published });
  };
  // Published hashes take precedence, as they are final.
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

/**
 * The error for a hash that differs from that of its neighbours or an earlier job. `number` is the block whose hash
 * differs, `by` the block that the expected hash comes from, `published` whether `by` is in a bundle.
 */
function stageConflict(options: {
  network: string;
  number: number;
  expected: string;
  got: string;
  where: string;
  by: number;
  published: boolean;
}): PackhouseError {
  const { network, number, expected, got, where, by, published } = options;
  return new PackhouseError({
    code: 'STAGE_CONFLICT',
    message: `Block ${number} of ${network} has hash ${expected} ${where}, and what is to be staged says ${got}.`,
    hint: 'The chain was reorganised, or a node follows another branch: it is fetched again.',
    data: { network, number, expected, got, by, published },
  });
}
