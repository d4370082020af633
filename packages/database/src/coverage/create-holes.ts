import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode, kindOf, kindsMask } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { NetworkIds } from '../networks/networks.js';
import { countHoles } from './count-holes.js';
import { cutPage, type HoleRow } from './cut-page.js';
import type { HoleCounts, HoleReason, Holes, QueueHints } from './holes.js';
import { selectAround } from './select-around.js';
import { selectHoles } from './select-holes.js';
import { readStanding } from './standing.js';

/** The part `holes` of the database. A network that was never registered has one hole: everything. */
export function createHoles(connections: Connections, ids: NetworkIds): Holes {
  /** 0 is nobody's id: identities begin at 1. */
  const idOf = async (network: string): Promise<number> => (await ids.find(network)) ?? 0;
  return {
    page: async ({ network, kinds, range, limit, hints }) => {
      const rows = await connections.query<HoleRow>(selectHoles, [
        ...[await idOf(network), kinds.map(kindCode), range.start, range.end, limit],
        ...hintValues(hints),
      ]);
      return cutPage(rows, { kinds, range, limit });
    },
    count: async ({ network, kinds, range, hints }) => {
      if (range.end < range.start) return kinds.map((kind) => ({ kind, published: 0, missing: {} }));
      const rows = await connections.query<CountRow>(countHoles, [
        ...[await idOf(network), kinds.map(kindCode), range.start, range.end, 0],
        ...hintValues(hints),
      ]);
      return kinds.map((kind) => countsOf(kind, rows));
    },
    around: async (network, kind, block) => {
      const rows = await connections.query<BlockRange & { side: 'below' | 'above' }>(selectAround, [
        await idOf(network),
        kindCode(kind),
        block,
      ]);
      const side = (name: 'below' | 'above'): BlockRange[] => rows.filter((row) => row.side === name);
      return {
        below: nearest(side('below').sort((a, b) => b.end - a.end)),
        above: nearest(side('above').sort((a, b) => a.start - b.start)),
      };
    },
    standing: async (network) => readStanding(connections, await idOf(network)),
  };
}

interface CountRow {
  kind: number;
  reason: HoleReason | null;
  blocks: number;
}

function countsOf(kind: Kind, rows: readonly CountRow[]): HoleCounts {
  const counts: HoleCounts = { kind, published: 0, missing: {} };
  for (const { kind: code, reason, blocks } of rows) {
    if (kindOf(code) !== kind || blocks === 0) continue;
    if (reason === null) counts.published = blocks;
    else counts.missing[reason] = blocks;
  }
  return counts;
}

function nearest([range]: readonly BlockRange[]): BlockRange | null {
  return range === undefined ? null : { start: range.start, end: range.end };
}

/** $6 to $10 of WITH_REASONS. */
function hintValues(hints: QueueHints = { windows: [], packing: [] }): unknown[] {
  const { windows, packing } = hints;
  return [
    windows.map(({ kinds }) => kindsMask(kinds)),
    windows.map(({ start }) => start),
    windows.map(({ end }) => end),
    windows.map(({ running }) => running),
    kindsMask(packing),
  ];
}
