import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Fragment } from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import type { StagedBlock, StageRequest } from '../staging/rows.js';
import type { NewBundle } from '../tables/published/bundles.js';

/** The hash of a block on a branch; every block of a branch links to the one before. */
export function hashAt(number: number, branch = 'a'): string {
  return `0x${createHash('sha256').update(`${branch}:${number}`).digest('hex')}`;
}

/** A staged block whose parent is on the same branch. */
function makeBlock(number: number, branch = 'a'): StagedBlock {
  return {
    number,
    hash: hashAt(number, branch),
    parentHash: hashAt(number - 1, branch),
    timestamp: 1_600_000_000 + number,
    transactionCount: number % 7,
    proofs: ['headerHash', 'parentLink'],
  };
}

/** A fragment whose body contains its kind and range. */
export function makeFragment(kind: Kind, firstBlock: number, lastBlock: number, branch = 'a'): Fragment {
  const raw = Buffer.from(`"${branch} ${kind} ${firstBlock}-${lastBlock}"`);
  const body = deflateRawSync(raw);
  return { firstBlock, lastBlock, body, byteLength: body.length, rawLength: raw.length, crc32: firstBlock };
}

/** A run of blocks, fragments of `blocksAFragment` blocks in each kind. */
export function makeRun(
  start: number,
  end: number,
  options: { kinds?: readonly Kind[]; blocksAFragment?: number; branch?: string } = {},
): StageRequest {
  const { kinds = KINDS, blocksAFragment = 1, branch = 'a' } = options;
  const blocks: StagedBlock[] = [];
  for (let number = start; number <= end; number += 1) blocks.push(makeBlock(number, branch));
  return {
    blocks,
    kinds: kinds.map((kind) => {
      const fragments: Fragment[] = [];
      for (let first = start; first <= end; first += blocksAFragment) {
        fragments.push(makeFragment(kind, first, Math.min(end, first + blocksAFragment - 1), branch));
      }
      return { kind, fragments };
    }),
  };
}

/** The index row of a bundle of one-block fragments. */
export function makeBundle(kind: Kind, firstBlock: number, lastBlock: number, branch = 'a'): NewBundle {
  const fragments = [];
  for (let number = firstBlock; number <= lastBlock; number += 1) {
    fragments.push({ firstBlock: number, lastBlock: number, byteLength: 10, rawLength: 20, crc32: number });
  }
  return {
    kind,
    firstBlock,
    lastBlock,
    objectKey: `main/${kind}/${firstBlock}-${lastBlock}.json.gz`,
    byteLength: 100 + (lastBlock - firstBlock),
    rawLength: 1_000,
    sha256: createHash('sha256').update(`${kind} ${firstBlock}-${lastBlock}`).digest('hex'),
    firstHash: hashAt(firstBlock, branch),
    firstParentHash: hashAt(firstBlock - 1, branch),
    lastHash: hashAt(lastBlock, branch),
    proofs: ['headerHash', 'transactionsRoot'],
    fragments,
    formatVersion: 1,
  };
}
