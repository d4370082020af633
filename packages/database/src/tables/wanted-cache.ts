import type { BlockRange, Kind } from '@packhouse/chain';
import { kindOf, kindsOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { OpenRange, Wanted, WantedRuns } from '../contract/wanted.js';
import type { NetworkRef } from './networks.js';

/** The end of a run without one, in the table. */
const NO_END = Number.MAX_SAFE_INTEGER;

/** $1 network id. */
const selectVersion = statement(
  'wanted/select-version',
  'SELECT version FROM packhouse.wanted_version WHERE network_id = $1',
);

/** $1 network id. */
const selectRuns = statement(
  'wanted/select-runs',
  `SELECT kind, state, start_block AS start, end_block AS "end" FROM packhouse.wanted_run
   WHERE network_id = $1 AND state IN ('active', 'paused')
   UNION ALL
   SELECT DISTINCT kind, state, 0, 0 FROM packhouse.wanted_run WHERE network_id = $1 AND state = 'cancelled'
   ORDER BY kind, state, start`,
);

/** $1 network id. */
const selectOpen = statement(
  'wanted/select-open',
  `SELECT id, kinds, start_block AS start, end_block AS "end", priority, owner, weight, windows,
     max_requests AS "maxRequests" FROM packhouse.wanted_range
   WHERE network_id = $1 AND state = 'active' AND NOT done
   ORDER BY priority, id`,
);

/** $1 network id. */
const selectSpent = statement(
  'wanted/select-spent',
  `SELECT w.id FROM packhouse.wanted_range AS w JOIN packhouse.range_usage AS u ON u.range_id = w.id
   WHERE w.network_id = $1 AND w.state = 'active' AND NOT w.done AND u.requests >= w.max_requests`,
);

/** $1 network id, $2 id to begin after, $3 limit: folds what is published whole. Returns the ranges looked at. */
const updateDone = statement(
  'wanted/update-done',
  `WITH seen AS MATERIALIZED (
     SELECT id, kinds, start_block, end_block FROM packhouse.wanted_range
     WHERE network_id = $1 AND state = 'active' AND NOT done AND id > $2
     ORDER BY id LIMIT $3
   ),
   folded AS (
     UPDATE packhouse.wanted_range AS w SET done = true
     FROM seen AS s
     WHERE w.id = s.id AND s.end_block IS NOT NULL AND NOT EXISTS (
       SELECT FROM generate_series(0, 15) AS k (kind)
       WHERE (s.kinds >> k.kind) & 1 = 1 AND s.end_block > coalesce((
         SELECT r.end_block FROM packhouse.published_run AS r
         WHERE r.network_id = $1 AND r.kind = k.kind AND r.start_block <= s.start_block
         ORDER BY r.start_block DESC LIMIT 1
       ), -1)
     )
     RETURNING w.id
   )
   SELECT s.id, f.id IS NOT NULL AS done FROM seen AS s LEFT JOIN folded AS f USING (id) ORDER BY s.id`,
);

type Cached = Pick<Wanted, 'runs' | 'open' | 'spent' | 'fold'>;

/**
 * Reads what a network wants, and keeps it until the version changes. What changed while it was read has another
 * version, as the version is read first.
 */
export function createWantedCache(connections: Connections, network: NetworkRef): Cached {
  const kept = <T>(read: (networkId: number) => Promise<T>) => {
    let last: { version: number; value: Promise<T> } | undefined;
    return async (): Promise<T> => {
      const id = await network.find();
      const [row] = await connections.query<{ version: number }>(selectVersion, [id]);
      const version = row?.version ?? 0;
      if (last === undefined || last.version !== version) {
        const reading = { version, value: read(id) };
        last = reading;
        reading.value.catch(() => {
          if (last === reading) last = undefined;
        });
      }
      return last.value;
    };
  };
  /** Folded here: no other process plans this network, so its version need not change. */
  const folded = new Set<number>();
  const open = kept(async (id) => {
    const rows = await connections.query<Omit<OpenRange, 'kinds'> & { kinds: number }>(selectOpen, [id]);
    folded.clear();
    const masks = new Map<number, Kind[]>();
    const ranges = rows.map((row): OpenRange => {
      const kinds = masks.get(row.kinds) ?? kindsOf(row.kinds);
      masks.set(row.kinds, kinds);
      return { ...row, kinds };
    });
    return { ranges };
  });
  return {
    runs: kept(async (id) => runsOf(await connections.query<RunRow>(selectRuns, [id]))),
    open: async () => {
      const known = await open();
      if (folded.size > 0) known.ranges = known.ranges.filter(({ id }) => !folded.has(id));
      folded.clear();
      return known.ranges;
    },
    spent: async () => {
      const rows = await connections.query<{ id: number }>(selectSpent, [await network.find()]);
      return new Set(rows.map(({ id }) => id));
    },
    fold: async (after, limit) => {
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

function runsOf(rows: readonly RunRow[]): WantedRuns {
  const maps = { active: new Map<Kind, BlockRange[]>(), paused: new Map<Kind, BlockRange[]>() };
  const kinds = new Set<Kind>();
  for (const { kind: code, state, start, end } of rows) {
    const kind = kindOf(code);
    kinds.add(kind);
    if (state === 'cancelled') continue;
    const runs = maps[state].get(kind) ?? [];
    maps[state].set(kind, runs);
    runs.push({ start, end: end === NO_END ? Number.POSITIVE_INFINITY : end });
  }
  return { ...maps, kinds: [...kinds] };
}
