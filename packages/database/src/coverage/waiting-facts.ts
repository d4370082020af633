import type { BlockRange, Kind } from '@packhouse/chain';
import { kindsMask } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { QueueHints } from './hole-reasons.js';

/** Why backfills of a network may wait. */
export interface WaitingFacts {
  /** null: no head is stored yet. */
  head: number | null;
  /** Since when nothing new is fetched because the staging area is full; null: it is not. */
  fullSince: Date | null;
  /** When the alarm of the request was raised; null: it is not open. */
  haltedAt: Date | null;
  /** The first row in quarantine with the cause of the request; null: there is none. */
  fork: { lastBlock: number; firstSeen: Date; nextTry: Date } | null;
  /** The budget that they wait for; null: none. */
  budget: { provider: string; since: Date; until: Date } | null;
  /** Ingest jobs that running ingesters take at a time. */
  slots: number;
}

/** $1 networks, $2 name of the alarm that halts, $3 cause of quarantine. */
const selectFacts = statement(
  'coverage/select-waiting-facts',
  `SELECT n.name AS network, h.block AS head,
     (SELECT since FROM packhouse.back_pressure WHERE network_id = n.id) AS "fullSince",
     (SELECT raised_at FROM packhouse.alarm WHERE network_id = n.id AND name = $2 AND cleared_at IS NULL) AS "haltedAt",
     f.last_block AS "forkBlock", f.first_seen AS "forkSeen", f.next_try AS "forkTry",
     b.provider, b.since, b.until,
     (SELECT coalesce(sum(w.slots), 0)::int4 FROM packhouse.worker AS w
      WHERE w.role = 'ingester' AND w.draining_since IS NULL AND n.name = ANY (w.networks)
        AND w.seen_at > clock_timestamp() - interval '15 seconds') AS slots
   FROM packhouse.network AS n
   LEFT JOIN packhouse.head AS h ON h.network_id = n.id
LEFT JOIN packhouse.budget_wait AS b ON b.network = n.name AND b.until > clock_timestamp()
   LEFT JOIN LATERAL (
     SELECT last_block, first_seen, next_try FROM packhouse.quarantine WHERE network_id = n.id AND cause = $3
     ORDER BY first_block LIMIT 1
   ) AS f ON true
   WHERE n.name = ANY ($1::text[])`,
);

/**
 * $1 windows that are in the queue, as JSON: of each network the open backfill that is worked on first among those with a
 * block in one of its windows.
 */
const selectFirstQueued = statement(
  'coverage/select-first-queued',
  `WITH queued AS MATERIALIZED (
     SELECT n.id AS network_id, n.name AS network, j.kinds, range_agg(int8range(j.first, j.last, '[]')) AS ranges
     FROM jsonb_to_recordset($1::jsonb) AS j (network text, kinds int4, first int8, last int8)
       JOIN packhouse.network AS n ON n.name = j.network
     GROUP BY n.id, n.name, j.kinds
   )
   SELECT DISTINCT ON (q.network) q.network, w.id, w.priority
   FROM queued AS q JOIN packhouse.backfill AS w ON w.network_id = q.network_id AND w.state = 'active' AND NOT w.done
   WHERE (w.kinds & q.kinds) <> 0
     AND q.ranges && int8range(w.first_block, coalesce(w.last_block, ${Number.MAX_SAFE_INTEGER}), '[]')
   ORDER BY q.network, w.priority, w.id`,
);

/** $1 ids: of each backfill when the first row in quarantine that touches it was seen, and when one is tried next. */
const selectQuarantined = statement(
  'coverage/select-quarantined',
  `SELECT w.id, min(q.first_seen) AS "firstSeen", min(q.next_try) AS "nextTry"
   FROM packhouse.backfill AS w JOIN packhouse.quarantine AS q ON q.network_id = w.network_id
     AND int8range(q.first_block, q.last_block, '[]')
       && int8range(w.first_block, coalesce(w.last_block, ${Number.MAX_SAFE_INTEGER - 1}), '[]')
   WHERE w.id = ANY ($1::int8[])
   GROUP BY w.id`,
);

/** A window of the queue. */
type Window = BlockRange & { kinds: readonly Kind[] };

/** Reads what many backfills may wait for, of all of them at once. */
export function createWaitingFacts(connections: Connections) {
  return {
    /** By network; one that was never registered is missing. */
    async facts(
      networks: readonly string[],
      { alarm, cause }: { alarm: string; cause: string },
    ): Promise<ReadonlyMap<string, WaitingFacts>> {
      const rows = await connections.query<FactsRow>(selectFacts, [networks, alarm, cause]);
      return new Map(
        rows.map(({ network, forkBlock, forkSeen, forkTry, provider, since, until, ...facts }) => [
          network,
          {
            ...facts,
            fork: forkBlock === null ? null : { lastBlock: forkBlock, firstSeen: forkSeen, nextTry: forkTry },
            budget: provider === null ? null : { provider, since, until },
          },
        ]),
      );
    },
    /** By network, the open backfill that is worked on first among those with a block in a window of the queue. */
    async firstQueued(
      hints: ReadonlyMap<string, QueueHints>,
    ): Promise<ReadonlyMap<string, { id: number; priority: number }>> {
      const windows = [...hints].flatMap(([network, { windows: own }]) =>
        own.map((window: Window) => {
          const { firstBlock: first, lastBlock: last, kinds } = window;
          return { network, first, last, kinds: kindsMask(kinds) };
        }),
      );
      if (windows.length === 0) return new Map();
      type Row = { network: string; id: number; priority: number };
      const rows = await connections.query<Row>(selectFirstQueued, [JSON.stringify(windows)]);
      return new Map(rows.map(({ network, ...first }) => [network, first]));
    },
    /** By id, when the first of the quarantined blocks of a backfill was seen, and when one is tried next. */
    async quarantined(
      ids: readonly number[],
    ): Promise<ReadonlyMap<number, { firstSeen: Date; nextTry: Date }>> {
      type Row = { id: number; firstSeen: Date; nextTry: Date };
      const rows = await connections.query<Row>(selectQuarantined, [ids]);
      return new Map(rows.map(({ id, ...times }) => [id, times]));
    },
  };
}

/** The times of what there is none of are null. */
interface FactsRow extends Pick<WaitingFacts, 'head' | 'fullSince' | 'haltedAt' | 'slots'> {
  network: string;
  forkBlock: number | null;
  forkSeen: Date;
  forkTry: Date;
  provider: string | null;
  since: Date;
  until: Date;
}
