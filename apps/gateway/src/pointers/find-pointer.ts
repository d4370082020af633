import type { BlockRange, Kind, NotProved } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { type CoverageParts, holeAt, holeNeeds } from '@packhouse/report';
import type { MaybePromise } from '../http/maybe-promise.js';
import { Problem } from '../http/problem.js';
import type { RangeCache } from './range-cache.js';
import type { PublishedRange } from './range-page.js';

type HoleFacts = NonNullable<Awaited<ReturnType<typeof holeAt>>['hole']>;

/** Finds the range of the file that holds a block. */
export type PointerFinder = ReturnType<typeof createPointerFinder>;

/** Creates the finder: published ranges from memory, everything else from the database. */
export function createPointerFinder(parts: {
  database: Database;
  ranges: RangeCache;
  coverage: CoverageParts;
}) {
  const { database, ranges } = parts;

  const query = async (
    network: string,
    kind: Kind,
    block: number,
    again: boolean,
  ): Promise<PublishedRange> => {
    const location = await database.network(network).locate(kind, block);
    if (location.state === 'absent') {
      const problem = await explainAbsence(parts, network, kind, block);
      if (problem !== null) throw problem;
      // It was added between the two queries.
      if (!again) return query(network, kind, block, true);
      throw new Problem('not-covered', {
        detail: `Block ${block} of ${network} changed during the look-up of ${kind}; try again.`,
        members: { kind, requested: block },
      });
    }
    if (location.state === 'staged') {
      const { hash, notProved } = location;
      return { firstBlock: block, lastBlock: block, hash, ...getGaps(notProved) };
    }
    const { firstBlock, lastBlock, notProved } = location.bundle;
    const range = { firstBlock, lastBlock, ...getGaps(notProved) };
    ranges.add(network, kind, block, range);
    return range;
  };

  return {
    /** Throws the problems `not-produced` and `not-covered`, and what the database throws. */
    find: (network: string, kind: Kind, block: number): MaybePromise<PublishedRange> =>
      ranges.find(network, kind, block) ?? query(network, kind, block, false),
  };
}

/** Published ranges that touch `range`, for the cache. */
export async function loadRanges(
  database: Database,
  network: string,
  kind: Kind,
  range: BlockRange,
): Promise<PublishedRange[]> {
  const { bundles } = database.network(network);
  const [ranges, gaps] = await Promise.all([bundles.ranges(kind, range), bundles.notProved(kind, range)]);
  if (gaps.length === 0) return ranges;
  const known = new Map(gaps.map(({ firstBlock, notProved }) => [firstBlock, getGaps(notProved)]));
  return ranges.map((each) => ({ ...each, ...known.get(each.firstBlock) }));
}

/** Most characters of a reason in the header. */
const MAX_REASON_LENGTH = 200;

/** The header's value: `proof; because="…"`, with commas between; printable ASCII, since names of fields come from nodes. */
function getGaps(notProved: readonly NotProved[] | undefined): { notProved?: string } {
  if (notProved === undefined || notProved.length === 0) return {};
  const parts = notProved.map(({ proof, because }) => {
    const plain = because.slice(0, MAX_REASON_LENGTH).replace(/[^ !#-[\]-~]/g, '?');
    return `${proof}; because="${plain}"`;
  });
  return { notProved: parts.join(', ') };
}

/**
 * The refusal for a block that is neither published nor staged: beyond the head, removed by a reorganisation, or not
 * covered, with the reason and the coverage around it; null if the block is there by now.
 */
async function explainAbsence(
  parts: { database: Database; coverage: CoverageParts },
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const { head, hole } = await holeAt(parts.coverage, { network, kind, block });
  if (hole === null || hole.staged) return null;
  const removed = await findRemovedBlock(parts.database, network, kind, block);
  if (removed !== null) return removed;
  if (head !== null && hole.reason === 'not-produced') {
    return new Problem('not-produced', {
      detail: `Block ${block} is above the head of ${network}, block ${head}.`,
      members: { kind, requested: block, head },
    });
  }
  const around = await parts.database.network(network).holes.around(kind, block);
  const below = written(around.below);
  const above = written(around.above);
  return new Problem('not-covered', {
    detail: `Block ${block} of ${network} is not covered for ${kind} (${hole.reason}: ${holeNeeds(hole)}); the nearest covered range below is ${below ?? 'none'}, above ${above ?? 'none'}.`,
    members: {
      kind,
      requested: block,
      head,
      holeReason: hole.reason,
      quarantined: hole.reason === 'quarantined',
      ...describeQuarantine(hole),
      coverage: { below, above },
    },
  });
}

/** What is known of the tries of a block that is in quarantine, in answers; nothing for others. */
export function describeQuarantine({ quarantine }: Pick<HoleFacts, 'quarantine'>): object {
  if (quarantine === null) return {};
  const { firstSeen, nextTry } = quarantine;
  return { ...quarantine, firstSeen: firstSeen.toISOString(), nextTry: nextTry.toISOString() };
}

function written(range: BlockRange | null): string | null {
  return range === null ? null : `${range.firstBlock}-${range.lastBlock}`;
}

/** The refusal for a block that a reorganisation removed within the last 400 days; null if none did. */
export async function findRemovedBlock(
  database: Database,
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const abandoned = await database.network(network).staging.abandonedAt(block);
  if (abandoned === null) return null;
  return new Problem('reorganised', {
    detail: `Block ${block} with hash ${abandoned.hash} was removed by a reorganisation; request the pointer of block ${block} again.`,
    members: { kind, block, hash: abandoned.hash, abandonedAt: abandoned.at.toISOString() },
  });
}
