import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Coverage, Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { selectCoverage } from './select-coverage.js';

/** Of everything: the highest number that is a block number here. */
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER - 1 };

/** What is wanted, staged, published and quarantined of one kind, all from one snapshot. */
export function createCoverage(connections: Connections, ids: NetworkIds): Database['coverage'] {
  return async (network, kind, within = EVERYTHING) => {
    const coverage: Coverage = { wanted: [], staged: [], published: [], quarantined: [] };
    const id = await ids.find(network);
    if (id === undefined || within.end < within.start) return coverage;
    const rows = await connections.query<{ part: keyof Coverage; start: number; end: number }>(
      selectCoverage,
      [id, kindCode(kind), within.start, within.end],
    );
    for (const { part, start, end } of rows) coverage[part].push({ start, end });
    return coverage;
  };
}
