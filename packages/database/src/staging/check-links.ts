import { PackhouseError } from '@packhouse/runtime';
import { statement } from '../connection/connections.js';
import type { Named, StoredBundle } from '../tables/published/bundles.js';
import type { StagedBlock, StagedBlockRow, StageRequest } from './rows.js';

/**
 * $1 network id, $2 first block, $3 last block: the bundles of all kinds that touch that range.
 *
 * Two walks along the primary key for each kind: the last bundle that begins at or before the first block, and those that
 * start after it.
 */
export const selectBundleEnds = statement(
  'staging/select-bundle-ends',
  `SELECT kinds.kind, b."firstBlock", b."lastBlock", '0x' || encode(b.first_hash, 'hex') AS "firstHash",
     '0x' || encode(b.first_parent_hash, 'hex') AS "firstParentHash", '0x' || encode(b.last_hash, 'hex') AS "lastHash"
   FROM generate_series(0, 4) AS kinds (kind),
   LATERAL (
     (SELECT first_block AS "firstBlock", last_block AS "lastBlock", first_hash, first_parent_hash, last_hash
      FROM packhouse.bundle
      WHERE network_id = $1 AND kind = kinds.kind AND first_block <= $2
      ORDER BY first_block DESC
      LIMIT 1)
     UNION ALL
     SELECT first_block, last_block, first_hash, first_parent_hash, last_hash
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = kinds.kind AND first_block > $2 AND first_block <= $3
   ) AS b
   WHERE b."lastBlock" >= $2`,
);

/** Both ends of a bundle. */
export type BundleEndsRow = Pick<
  StoredBundle,
  'kind' | 'firstBlock' | 'lastBlock' | 'firstHash' | 'firstParentHash' | 'lastHash'
>;

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
      const inRun = { hash: previous.hash, where: 'in the same run', by: block.number, published: false };
      throw stageConflict(network, number, inRun, block.parentHash);
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
  /** Whether `by` is in a bundle. */
  published: boolean;
}

/** Hashes by number. A block also has its parent's hash. */
function knownHashes(
  staged: readonly StagedBlockRow[],
  bundles: readonly BundleEndsRow[],
): Map<number, KnownHash> {
  const known = new Map<number, KnownHash>();
  const add = (number: number, hash: string, where: string, by: number, published: boolean): void => {
    if (!known.has(number)) known.set(number, { hash, where, by, published });
  };
  // Published hashes take precedence, as they are final.
  for (const row of bundles) {
    const name = `as bundle ${row.firstBlock}-${row.lastBlock} says`;
    add(row.firstBlock, row.firstHash, name, row.firstBlock, true);
    add(row.firstBlock - 1, row.firstParentHash, name, row.firstBlock, true);
    add(row.lastBlock, row.lastHash, name, row.lastBlock, true);
  }
  for (const row of staged) {
    add(row.number, row.hash, 'as it is staged', row.number, false);
    add(row.number - 1, row.parentHash, `as staged block ${row.number} says`, row.number, false);
  }
  return known;
}

function compare(network: string, known: Map<number, KnownHash>, number: number, got: string): void {
  const entry = known.get(number);
  if (entry !== undefined && entry.hash !== got) throw stageConflict(network, number, entry, got);
}

/** The error for the hash of block `number`, which differs from that of its neighbours or an earlier job. */
function stageConflict(network: string, number: number, known: KnownHash, got: string): PackhouseError {
  const { hash: expected, where, by, published } = known;
  return new PackhouseError({
    code: 'STAGE_CONFLICT',
    message: `Block ${number} of ${network} has hash ${expected} ${where}, and what is to be staged says ${got}.`,
    hint: 'The chain was reorganised, or a node follows another branch: it is fetched again.',
    data: { network, number, expected, got, by, published },
  });
}
