import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { Problem } from '../http/problem.js';

/** How far around a block the refusal looks for coverage: one refusal must not read an index of millions of rows. */
const WINDOW_BLOCKS = 16_384;

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
  const within = { start: Math.max(0, block - WINDOW_BLOCKS), end: block + WINDOW_BLOCKS };
  const [coverage, next] = await Promise.all([
    database.coverage(network, kind, within),
    database.bundles.list(network, kind, block, 1),
  ]);
  const covered = [...coverage.published, ...coverage.staged];
  const below = covered.filter((range) => range.end < block).sort((a, b) => b.end - a.end)[0];
  const above =
    covered.filter((range) => range.start > block).sort((a, b) => a.start - b.start)[0] ?? next[0];
  const held = coverage.quarantined.some((range) => range.start <= block && block <= range.end);
  const why = held ? 'is held back because it failed its checks' : 'is not covered';
  return new Problem('not-covered', {
    detail: `Block ${block} of ${network} ${why} for ${kind}; the nearest covered range below is ${said(below, within.start)}, above ${said(above)}.`,
    members: {
      kind,
      requested: block,
      head,
      quarantined: held,
      coverage: { below: written(below), above: written(above) },
    },
  });
}

function written(range: BlockRange | undefined): string | null {
  return range === undefined ? null : `${range.start}-${range.end}`;
}

function said(range: BlockRange | undefined, from?: number): string {
  if (range !== undefined) return `${range.start}-${range.end}`;
  return from === undefined || from === 0 ? 'none' : `none from block ${from} on`;
}
