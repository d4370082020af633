import { KINDS } from '@packhouse/chain';
import { kindOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { KindStanding, NetworkStanding, OldestQuarantine, Standing } from '../contract/holes.js';

/** A row for each network and kind, each with the values of the network. */
const standing = (condition: string): string => `
   SELECT n.name AS network, k.kind, h.block AS head, h.finalized, f.block AS "firstWanted", f.last AS "lastWanted",
     (f.kinds >> k.kind) & 1 = 1 AS wanted,
     coalesce(p.bundles, 0) AS bundles, coalesce(p.blocks, 0) AS blocks, coalesce(p.bytes, 0) AS bytes,
     p.newest_at AS "newestAt",
     (SELECT max(end_block) FROM (
        SELECT end_block FROM packhouse.published_run
        WHERE network_id = n.id AND kind = k.kind ORDER BY start_block DESC LIMIT 1
      ) AS last) AS newest,
     (SELECT CASE WHEN r.end_block >= f.block THEN r.end_block END FROM packhouse.published_run AS r
      WHERE r.network_id = n.id AND r.kind = k.kind AND r.start_block <= f.block
      ORDER BY r.start_block DESC LIMIT 1) AS "completeTo"
   FROM packhouse.network AS n
   CROSS JOIN LATERAL (
     SELECT min(r.start_block) AS block, coalesce(bit_or(1 << k.kind), 0) AS kinds,
       (SELECT max(end_block) FROM packhouse.wanted_range
        WHERE network_id = n.id AND state <> 'cancelled') AS last
     FROM generate_series(0, 7) AS k (kind), (VALUES ('active'), ('paused')) AS s (state), LATERAL (
       SELECT start_block FROM packhouse.wanted_run
       WHERE network_id = n.id AND kind = k.kind AND state = s.state
       ORDER BY start_block LIMIT 1
     ) AS r
     OFFSET 0
   ) AS f
   CROSS JOIN generate_series(0, 7) AS k (kind)
   LEFT JOIN packhouse.head AS h ON h.network_id = n.id
   LEFT JOIN packhouse.published AS p ON p.network_id = n.id AND p.kind = k.kind AND p.blocks > 0
   WHERE ${condition}
   ORDER BY n.name, k.kind`;

const selectStandings = statement('coverage/select-standings', standing('true'));

/**
 * $1 network id. A condition that may be absent would have Postgres plan it anew for every look, which takes longer than
 * to run it.
 */
const selectStanding = statement('coverage/select-standing', standing('n.id = $1'));

/** $1 network id: the oldest row in quarantine. */
const selectOldestQuarantine = statement(
  'coverage/select-oldest-quarantine',
  `SELECT block AS start, block + blocks - 1 AS "end", cause, attempts, first_seen AS "firstSeen",
     next_try AS "nextTry"
   FROM packhouse.quarantine WHERE network_id = $1
   ORDER BY first_seen, block LIMIT 1`,
);

interface StandingRow extends Omit<KindStanding, 'kind'>, Pick<Standing, 'firstWanted' | 'lastWanted'> {
  network: string;
  kind: number;
  head: number | null;
  finalized: number | null;
}

/** Reads how far a network is (see Holes.standing); `networkId` 0 is an unknown network. */
export async function readStanding(connections: Connections, networkId: number): Promise<Standing> {
  const rows = await connections.query<StandingRow>(selectStanding, [networkId]);
  const [oldest] = await connections.query<OldestQuarantine>(selectOldestQuarantine, [networkId]);
  return { ...standingOf(rows), oldestQuarantine: oldest ?? null };
}

/** Reads how far all networks are. */
export async function readStandings(connections: Connections): Promise<NetworkStanding[]> {
  const rows = await connections.query<StandingRow>(selectStandings, []);
  const networks = new Map<string, StandingRow[]>();
  for (const row of rows) {
    const own = networks.get(row.network);
    if (own === undefined) networks.set(row.network, [row]);
    else own.push(row);
  }
  return [...networks].map(([network, own]) => ({ network, ...standingOf(own) }));
}

function standingOf(all: readonly StandingRow[]): Omit<Standing, 'oldestQuarantine'> {
  const rows = all.filter((row) => row.kind < KINDS.length);
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
    kinds: rows
      .filter((each) => each.wanted || each.bundles > 0)
      .map((each) => ({
        kind: kindOf(each.kind),
        wanted: each.wanted,
        completeTo: each.completeTo,
        newest: each.newest,
        bundles: each.bundles,
        blocks: each.blocks,
        bytes: each.bytes,
        newestAt: each.newestAt,
      })),
  };
}
