import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { CoverageParts } from '@packhouse/pipeline';
import { Problem } from '../http/problem.js';
import type { Soon } from '../http/soon.js';
import type { RangeCache } from '../ranges/range-cache.js';
import { whyAbsent } from './why-absent.js';

/** Finds the range of the file that holds a block. */
export interface PointerFinder {
  /** Throws the problems `beyond-head` and `not-covered`, and what the database throws. */
  find(network: string, kind: Kind, block: number): Soon<BlockRange>;
}

/** Makes the finder: published ranges from memory, everything else from the database. */
export function createPointerFinder(parts: {
  database: Database;
  ranges: RangeCache;
  coverage: CoverageParts;
}): PointerFinder {
  const { database, ranges } = parts;

  const look = async (network: string, kind: Kind, block: number, again: boolean): Promise<BlockRange> => {
    const location = await database.locate(network, kind, block);
    if (location.state === 'absent') {
      const problem = await whyAbsent(parts, network, kind, block);
      if (problem !== null) throw problem;
      // It came between the two questions.
      if (!again) return look(network, kind, block, true);
      throw new Problem('not-covered', {
        detail: `Block ${block} of ${network} comes and goes for ${kind}; try again.`,
        members: { kind, requested: block },
      });
    }
    if (location.state === 'staged') return { start: block, end: block };
    const { start, end } = location.bundle;
    ranges.add(network, kind, block, { start, end });
    return { start, end };
  };

  return {
    find: (network, kind, block) => ranges.find(network, kind, block) ?? look(network, kind, block, false),
  };
}
