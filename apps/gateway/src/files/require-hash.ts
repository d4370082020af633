import type { Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import { Problem } from '../http/problem.js';
import { type PublishedBlockParts, readPublishedHash } from './published-block.js';

type Location = Awaited<ReturnType<ReturnType<Database['network']>['locate']>>;

/** The block that a link means. */
interface Named {
  network: string;
  kind: Kind;
  block: number;
  /** `0x` hex in lower case. */
  hash: string;
}

/**
 * Creates the check that a block of a number, as it was located, is the one that a link means. Throws the problem
 * `reorganised` if another block took its place, or none yet; what is located is not opened then.
 */
export function createHashCheck({ database, ...parts }: PublishedBlockParts & { database: Database }) {
  /** Null: nothing published says it, since the block is without records and no blocks are published. */
  const publishedHash = async (row: BundleRow, block: number): Promise<string | null> => {
    const own = await readPublishedHash(row, block, parts);
    if (own !== null) return own;
    const blocks = await database.network(row.network).bundles.covering('blocks', block);
    return blocks && readPublishedHash(blocks, block, parts);
  };

  return async ({ network, kind, block, hash }: Named, location: Location): Promise<void> => {
    const here =
      location.state === 'staged'
        ? location.hash
        : location.state === 'published'
          ? await publishedHash(location.bundle, block)
          : null;
    if (here === hash) return;
    const at = await database.network(network).staging.whenAbandoned(block, hash);
    // Neither is known of it: of an absent block nothing is served anyway, and one without records has no other file.
    if (at === null && here === null) return;
    const what = at === null ? 'is not in the chain' : 'was removed by a reorganisation';
    const now = here === null ? 'no other block of the number is there yet' : `block ${block} is ${here} now`;
    throw new Problem('reorganised', {
      detail: `Block ${block} with hash ${hash} ${what}; ${now}. Read the feed again, or request the pointer of block ${block}.`,
      members: { kind, block, hash, abandonedAt: at?.toISOString() ?? null, replacedBy: here },
    });
  };
}
