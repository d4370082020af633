import type { BlockRange, Kind } from '@packhouse/chain';
import type { Coverage, Database } from '@packhouse/database';
import { Problem } from '../http/problem.js';

/**
 * How far around a block coverage is read at first: what it costs grows with what is staged, and most refusals are
 * near to something.
 */
const NEAR_BLOCKS = 16_384;

/** The refusal for a block that is neither published nor staged: beyond the head, or not covered, with what is around it. */
export async function whyAbsent(
  database: Database,
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem> {
  const head = (await database.head.get(network))?.number ?? null;
  if (head !== null && block > head) {
    return new Problem('beyond-head', {
      detail: `Block ${block} is beyond the head of ${network}, which is block ${head}.`,
      members: { kind, requested: block, head },
    });
  }
  let coverage = await database.coverage(network, kind, {
    start: Math.max(0, block - NEAR_BLOCKS),
    end: block + NEAR_BLOCKS,
  });
  const held = coverage.quarantined.some((range) => range.start <= block && block <= range.end);
  if (nearestBelow(coverage, block) === undefined || nearestAbove(coverage, block) === undefined) {
    coverage = await database.coverage(network, kind);
  }
  const below = written(nearestBelow(coverage, block));
  const above = written(nearestAbove(coverage, block));
  const why = held ? 'is held back because it failed its checks' : 'is not covered';
  return new Problem('not-covered', {
    detail: `Block ${block} of ${network} ${why} for ${kind}; the nearest covered range below is ${below ?? 'none'}, above ${above ?? 'none'}.`,
    members: { kind, requested: block, head, quarantined: held, coverage: { below, above } },
  });
}

function nearestBelow({ published, staged }: Coverage, block: number): BlockRange | undefined {
  return [...published, ...staged].filter((range) => range.end < block).sort((a, b) => b.end - a.end)[0];
}

function nearestAbove({ published, staged }: Coverage, block: number): BlockRange | undefined {
  return [...published, ...staged]
    .filter((range) => range.start > block)
    .sort((a, b) => a.start - b.start)[0];
}

function written(range: BlockRange | undefined): string | null {
  return range === undefined ? null : `${range.start}-${range.end}`;
}
