import { KINDS } from '@packhouse/chain';
import { kindOf } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { KindStanding, OldestQuarantine, Standing } from './holes.js';
import { selectOldestQuarantine } from './select-oldest-quarantine.js';
import { selectStanding } from './select-standing.js';

interface StandingRow extends Omit<KindStanding, 'kind'>, Pick<Standing, 'firstWanted' | 'lastWanted'> {
  kind: number;
  head: number | null;
  finalized: number | null;
}

/** Reads how far a network is (see Holes.standing); `networkId` 0 is a network that nobody knows. */
export async function readStanding(connections: Connections, networkId: number): Promise<Standing> {
  const rows = (await connections.query<StandingRow>(selectStanding, [networkId])).filter(
    (row) => row.kind < KINDS.length,
  );
  const [oldest] = await connections.query<OldestQuarantine>(selectOldestQuarantine, [networkId]);
  const [row] = rows;
  const wanted = rows.filter((each) => each.wanted);
  const ends = wanted.map((each) => each.completeTo);
  return {
    head: row?.head ?? null,
    finalized: row?.finalized ?? null,
    firstWanted: row?.firstWanted ?? null,
    lastWanted: row?.lastWanted ?? null,
    completeTo:
      ends.length === 0 || ends.includes(null) ? null : Math.min(...ends.filter((end) => end !== null)),
    oldestQuarantine: oldest ?? null,
    kinds: rows
      .filter((each) => each.wanted || each.bundles > 0)
      .map(({ kind, wanted: isWanted, completeTo, newest, bundles }) => ({
        ...{ kind: kindOf(kind), wanted: isWanted, completeTo, newest, bundles },
      })),
  };
}
