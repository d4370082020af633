import { KINDS } from '@packhouse/chain';
import { kindOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { KindStanding, OldestQuarantine, Standing } from '../contract/holes.js';

/** $1 network id: a row for each kind that is wanted or published, each with the values of the network. */
const selectStanding = statement(
  'coverage/select-standing',
  `WITH first AS MATERIALIZED (
     SELECT min(r.start_block) AS block, coalesce(bit_or(1 << k.kind), 0) AS kinds,
       (SELECT max(end_block) FROM packhouse.wanted_range WHERE network_id = $1 AND state <> 'cancelled') AS last
     FROM generate_series(0, 7) AS k (kind), (VALUES ('active'), ('paused')) AS s (state), LATERAL (
       SELECT start_block FROM packhouse.wanted_run
       WHERE network_id = $1 AND kind = k.kind AND state = s.state
       ORDER BY start_block LIMIT 1
     ) AS r
   )
   SELECT k.kind, h.block AS head, h.finalized, f.block AS "firstWanted", f.last AS "lastWanted",
     (f.kinds >> k.kind) & 1 = 1 AS wanted,
     coalesce(p.bundles, 0) AS bundles, coalesce(p.blocks, 0) AS blocks, coalesce(p.bytes, 0) AS bytes,
     p.newest_at AS "newestAt",
     (SELECT max(end_block) FROM (
        SELECT end_block FROM packhouse.published_run
        WHERE network_id = $1 AND kind = k.kind ORDER BY start_block DESC LIMIT 1
      ) AS last) AS newest,
     (SELECT CASE WHEN r.end_block >= f.block THEN r.end_block END FROM packhouse.published_run AS r
      WHERE r.network_id = $1 AND r.kind = k.kind AND r.start_block <= f.block
      ORDER BY r.start_block DESC LIMIT 1) AS "completeTo"
   FROM generate_series(0, 7) AS k (kind) CROSS JOIN first AS f
   LEFT JOIN packhouse.head AS h ON h.network_id = $1
   LEFT JOIN packhouse.published AS p ON p.network_id = $1 AND p.kind = k.kind AND p.blocks > 0
   ORDER BY k.kind`,
);

/** $1 network id: the oldest row in quarantine. */
const selectOldestQuarantine = statement(
  'coverage/select-oldest-quarantine',
  `SELECT block AS start, block + blocks - 1 AS "end", cause, attempts, first_seen AS "firstSeen",
     next_try AS "nextTry"
   FROM packhouse.quarantine WHERE network_id = $1
   ORDER BY first_seen, block LIMIT 1`,
);

interface StandingRow extends Omit<KindStanding, 'kind'>, Pick<Standing, 'firstWanted' | 'lastWanted'> {
  kind: number;
  head: number | null;
  finalized: number | null;
}

/** Reads how far a network is (see Holes.standing); `networkId` 0 is an unknown network. */
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
