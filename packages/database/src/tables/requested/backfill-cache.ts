import type { BlockRange, Kind } from '@packhouse/chain';
import { getOrAdd } from '@packhouse/runtime';
import { getKind, getKinds } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import { createMemory } from '../../connection/memory.js';
import type { NetworkRef } from '../networks/networks.js';

/** Who a range is fetched for, and on what terms. */
export type BackfillTerms = {
  /** 1 to 64 lower-case letters, digits, dots, dashes and underscores. */
  owner: string;
  /** Its share beside ranges of the same priority, 1 to 1000. */
  weight: number;
  /** When it is fetched, such as `Mon-Fri 20:00-06:00 Europe/Berlin`; empty: always. */
  windows: readonly string[];
  deadline: Date | null;
  /** null: no limit. */
  maxRequests: number | null;
};

/** An inclusive range that operators requested. */
export interface Backfill extends BackfillTerms {
  id: number;
  network: string;
  kinds: readonly Kind[];
  from: number;
  /** null: follow the head. */
  to: number | null;
  /** 1 (first) to 1000. */
  priority: number;
  state: 'active' | 'paused' | 'cancelled';
  createdAt: Date;
  /** Who paused or cancelled it, and when; null: it is active. */
  stopped: BackfillStop | null;
}

interface BackfillStop {
  at: Date;
  actor: string;
  /** null: the operator gave none. */
  reason: string | null;
}

/** What is requested of a network by kind: merged ranges, ascending; one that follows the head ends at Infinity. */
export interface RequestedRuns {
  active: ReadonlyMap<Kind, readonly BlockRange[]>;
  paused: ReadonlyMap<Kind, readonly BlockRange[]>;
  /** Kinds that were ever requested, also by backfills that were cancelled. */
  kinds: readonly Kind[];
}

/** A backfill as it is planned. */
export type OpenBackfill = Omit<Backfill, 'network' | 'state' | 'createdAt' | 'deadline' | 'stopped'>;

/** The end of a run without one, in the table. */
const NO_END = Number.MAX_SAFE_INTEGER;

/** $1 network id. */
const selectVersion = statement(
  'requested/select-version',
  'SELECT version FROM packhouse.requested_version WHERE network_id = $1',
);

/** $1 network id. */
const selectRuns = statement(
  'requested/select-runs',
  `SELECT kind, state, first_block AS "firstBlock", last_block AS "lastBlock" FROM packhouse.requested_run
   WHERE network_id = $1 AND state IN ('active', 'paused')
   UNION ALL
   SELECT DISTINCT kind, state, 0, 0 FROM packhouse.requested_run WHERE network_id = $1 AND state = 'cancelled'
   ORDER BY kind, state, "firstBlock"`,
);

/** $1 network id. */
const selectOpen = statement(
  'requested/select-open',
  `SELECT id, kinds, first_block AS "from", last_block AS "to", priority, owner, weight, windows,
     max_requests AS "maxRequests" FROM packhouse.backfill
   WHERE network_id = $1 AND state = 'active' AND NOT done
   ORDER BY priority, id`,
);

/** $1 network id. */
const selectLeft = statement(
  'requested/select-left',
  `SELECT w.id, w.max_requests - coalesce(greatest(u.requests, u.allowed), 0) AS "requests"
   FROM packhouse.backfill AS w LEFT JOIN packhouse.backfill_usage AS u ON u.backfill_id = w.id
   WHERE w.network_id = $1 AND w.state = 'active' AND NOT w.done AND w.max_requests IS NOT NULL`,
);

/** $1 network id, $2 id to begin after, $3 limit: folds what is published whole. Returns the ranges looked at. */
const updateDone = statement(
  'requested/update-done',
  `WITH seen AS MATERIALIZED (
     SELECT id, kinds, first_block, last_block FROM packhouse.backfill
     WHERE network_id = $1 AND state = 'active' AND NOT done AND id > $2
     ORDER BY id LIMIT $3
   ),
   folded AS (
     UPDATE packhouse.backfill AS w SET done = true, done_at = clock_timestamp()
     FROM seen AS s
     WHERE w.id = s.id AND s.last_block IS NOT NULL AND NOT EXISTS (
       SELECT FROM generate_series(0, 15) AS k (kind)
       WHERE (s.kinds >> k.kind) & 1 = 1 AND s.last_block > coalesce((
         SELECT r.last_block FROM packhouse.published_run AS r
         WHERE r.network_id = $1 AND r.kind = k.kind AND r.first_block <= s.first_block
         ORDER BY r.first_block DESC LIMIT 1
       ), -1)
     )
     RETURNING w.id
   )
   SELECT s.id, f.id IS NOT NULL AS done FROM seen AS s LEFT JOIN folded AS f USING (id) ORDER BY s.id`,
);

/**
 * Reads what is requested of a network, and keeps it until the version changes. What changed while it was read has
 * another version, as the version is read first.
 */
export function createBackfillCache(connections: Connections, network: NetworkRef) {
  const kept = <T>(read: (networkId: number) => Promise<T>) => {
    const memory = createMemory(connections, () => ({
      last: undefined as { version: number; value: Promise<T> } | undefined,
    }));
    return async (): Promise<T> => {
      const id = await network.find();
      const known = memory();
      const row = await connections.queryOne<{ version: number }>(selectVersion, [id]);
      const version = row?.version ?? 0;
      if (known.last?.version !== version) {
        const reading = { version, value: read(id) };
        known.last = reading;
        reading.value.catch(() => {
          if (known.last === reading) known.last = undefined;
        });
      }
      return known.last.value;
    };
  };
  /** Folded here: no other process plans this network, so its version need not change. */
  const folded = new Set<number>();
  const open = kept(async (id) => {
    const rows = await connections.query<Omit<OpenBackfill, 'kinds'> & { kinds: number }>(selectOpen, [id]);
    folded.clear();
    const masks = new Map<number, Kind[]>();
    return {
      ranges: rows.map((row): OpenBackfill => {
        return { ...row, kinds: getOrAdd(masks, row.kinds, () => getKinds(row.kinds)) };
      }),
    };
  });
  return {
    /** Read once for each change of what is requested; else one row is read. The same object until then. */
    runs: kept(async (id) => toRuns(await connections.query<RunRow>(selectRuns, [id]))),
    /** The active backfills that are not folded, in the order they are worked on; read like `runs`. */
    async open(): Promise<readonly OpenBackfill[]> {
      const known = await open();
      if (folded.size > 0) known.ranges = known.ranges.filter(({ id }) => !folded.has(id));
      folded.clear();
      return known.ranges;
    },
    /** Requests that open backfills with a limit may still send, by id. */
    async requestsLeft(): Promise<ReadonlyMap<number, number>> {
      const values = [await network.find()];
      const rows = await connections.query<{ id: number; requests: number }>(selectLeft, values);
      return new Map(rows.map(({ id, requests }) => [id, requests]));
    },
    /**
     * Folds backfills of which everything is published: looks at the next `limit` open ones after the one of id `after`,
     * and returns where to go on; null: at the beginning.
     */
    async fold(after: number | null, limit: number): Promise<number | null> {
      const values = [await network.find(), after ?? -1, limit];
      const rows = await connections.query<{ id: number; done: boolean }>(updateDone, values);
      for (const { id, done } of rows) if (done) folded.add(id);
      return rows.length < limit ? null : (rows.at(-1)?.id ?? null);
    },
  };
}

interface RunRow extends BlockRange {
  kind: number;
  state: 'active' | 'paused' | 'cancelled';
}

function toRuns(rows: readonly RunRow[]): RequestedRuns {
  const maps = { active: new Map<Kind, BlockRange[]>(), paused: new Map<Kind, BlockRange[]>() };
  const kinds = new Set<Kind>();
  for (const { kind: code, state, firstBlock, lastBlock } of rows) {
    const kind = getKind(code);
    kinds.add(kind);
    if (state === 'cancelled') continue;
    getOrAdd(maps[state], kind, (): BlockRange[] => []).push({
      firstBlock,
      lastBlock: lastBlock === NO_END ? Number.POSITIVE_INFINITY : lastBlock,
    });
  }
  return { ...maps, kinds: [...kinds] };
}
