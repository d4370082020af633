import { KINDS, type Kind } from '@packhouse/chain';
import { getOrAdd } from '@packhouse/runtime';
import { getKind } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { QuarantineRow } from '../tables/requested/quarantine-rows.js';

/** How far one kind of a network is. */
interface KindStanding {
  kind: Kind;
  /** Whether it is requested, now or when a pause ends. */
  requested: boolean;
  /** Highest block up to which it is published from the network's first requested block on, without a hole. */
  completeThrough: number | null;
  /** Highest block that is published. */
  newest: number | null;
  /** Published bundles, their blocks and bytes, and when the newest was published. */
  bundles: number;
  blocks: number;
  bytes: number;
  newestAt: Date | null;
}

/** How far a network is. */
export interface Standing {
  head: number | null;
  finalized: number | null;
  /** The first block that is requested in any kind. */
  firstRequested: number | null;
  /** The last block that is requested by a backfill that has an end; null if there is none. */
  lastRequested: number | null;
  /** Highest block up to which everything from `firstRequested` on is published in every requested kind. */
  completeThrough: number | null;
  /** Kinds that are requested, or of which something is published. */
  kinds: KindStanding[];
  /** The oldest row in quarantine. */
  oldestQuarantine: OldestQuarantine | null;
}

/** How far one of all networks is. */
export type NetworkStanding = Omit<Standing, 'oldestQuarantine'> & { network: string };

/** A row of the quarantine with the columns that a view of coverage needs. */
type OldestQuarantine = Pick<
  QuarantineRow,
  'firstBlock' | 'lastBlock' | 'cause' | 'attempts' | 'firstSeen' | 'nextTry'
>;

/** A row for each network and kind, each with the values of the network. */
const standing = (condition: string): string => `
   SELECT n.name AS network, k.kind, h.block AS head, h.finalized, f.block AS "firstRequested", f.last AS "lastRequested",
     (f.kinds >> k.kind) & 1 = 1 AS requested,
     coalesce(p.bundles, 0) AS bundles, coalesce(p.blocks, 0) AS blocks, coalesce(p.bytes, 0) AS bytes,
     p.newest_at AS "newestAt",
     (SELECT max(last_block) FROM (
        SELECT last_block FROM packhouse.published_run
        WHERE network_id = n.id AND kind = k.kind ORDER BY first_block DESC LIMIT 1
      ) AS last) AS newest,
     (SELECT CASE WHEN r.last_block >= f.block THEN r.last_block END FROM packhouse.published_run AS r
      WHERE r.network_id = n.id AND r.kind = k.kind AND r.first_block <= f.block
      ORDER BY r.first_block DESC LIMIT 1) AS "completeThrough"
   FROM packhouse.network AS n
   CROSS JOIN LATERAL (
     SELECT min(r.first_block) AS block, coalesce(bit_or(1 << k.kind), 0) AS kinds,
       (SELECT max(last_block) FROM packhouse.backfill
        WHERE network_id = n.id AND state <> 'cancelled') AS last
     FROM generate_series(0, 7) AS k (kind), (VALUES ('active'), ('paused')) AS s (state), LATERAL (
       SELECT first_block FROM packhouse.requested_run
       WHERE network_id = n.id AND kind = k.kind AND state = s.state
       ORDER BY first_block LIMIT 1
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
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock", cause, attempts, first_seen AS "firstSeen",
     next_try AS "nextTry"
   FROM packhouse.quarantine WHERE network_id = $1
   ORDER BY first_seen, first_block LIMIT 1`,
);

interface StandingRow
  extends Omit<KindStanding, 'kind'>,
    Pick<Standing, 'head' | 'finalized' | 'firstRequested' | 'lastRequested'> {
  network: string;
  kind: number;
}

/** Reads how far a network is; `networkId` 0 is an unknown network. */
export async function readStanding(connections: Connections, networkId: number): Promise<Standing> {
  const rows = await connections.query<StandingRow>(selectStanding, [networkId]);
  const oldestQuarantine = await connections.queryOne<OldestQuarantine>(selectOldestQuarantine, [networkId]);
  return { ...toStanding(rows), oldestQuarantine };
}

/** Reads how far all networks are. */
export async function readStandings(connections: Connections): Promise<NetworkStanding[]> {
  const rows = await connections.query<StandingRow>(selectStandings, []);
  const networks = new Map<string, StandingRow[]>();
  for (const row of rows) getOrAdd(networks, row.network, (): StandingRow[] => []).push(row);
  return [...networks].map(([network, own]) => ({ network, ...toStanding(own) }));
}

function toStanding(all: readonly StandingRow[]): Omit<Standing, 'oldestQuarantine'> {
  const rows = all.filter((row) => row.kind < KINDS.length);
  const [row] = rows;
  const ends = rows.filter((each) => each.requested).map((each) => each.completeThrough);
  return {
    head: row?.head ?? null,
    finalized: row?.finalized ?? null,
    firstRequested: row?.firstRequested ?? null,
    lastRequested: row?.lastRequested ?? null,
    completeThrough:
      ends.length === 0 || ends.includes(null) ? null : Math.min(...ends.filter((end) => end !== null)),
    kinds: rows
      .filter((each) => each.requested || each.bundles > 0)
      .map((each) => ({
        kind: getKind(each.kind),
        requested: each.requested,
        completeThrough: each.completeThrough,
        newest: each.newest,
        bundles: each.bundles,
        blocks: each.blocks,
        bytes: each.bytes,
        newestAt: each.newestAt,
      })),
  };
}
