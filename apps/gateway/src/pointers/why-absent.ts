import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { type CoverageParts, holeAt, holeNeeds } from '@packhouse/pipeline';
import { removedBlock } from '../files/removed-block.js';
import { Problem } from '../http/problem.js';

/**
 * The refusal for a block that is neither published nor staged: beyond the head, removed by a reorganisation, or not covered, with the reason that
 * coverage gives for it and what is around it; null where it is there by now.
 */
export async function whyAbsent(
  parts: { database: Database; coverage: CoverageParts },
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const { head, hole } = await holeAt(parts.coverage, { network, kind, block });
  if (hole === null || hole.staged) return null;
  const removed = await removedBlock(parts.database, network, kind, block);
  if (removed !== null) return removed;
  if (head !== null && hole.reason === 'beyond-head') {
    return new Problem('beyond-head', {
      detail: `Block ${block} is beyond the head of ${network}, which is block ${head}.`,
      members: { kind, requested: block, head },
    });
  }
  const around = await parts.database.holes.around(network, kind, block);
  const below = written(around.below);
  const above = written(around.above);
  const { quarantine } = hole;
  return new Problem('not-covered', {
    detail: `Block ${block} of ${network} is not covered for ${kind} (${hole.reason}: ${holeNeeds(hole)}); the nearest covered range below is ${below ?? 'none'}, above ${above ?? 'none'}.`,
    members: {
      ...{ kind, requested: block, head, why: hole.reason, quarantined: hole.reason === 'quarantined' },
      ...(quarantine === null ? {} : { ...quarantine, nextTry: quarantine.nextTry.toISOString() }),
      coverage: { below, above },
    },
  });
}

function written(range: BlockRange | null): string | null {
  return range === null ? null : `${range.start}-${range.end}`;
}
