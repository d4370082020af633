import { kindsMask, kindsOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { AllWanted, RangeTerms, Wanted, WantedRange } from '../contract/wanted.js';
import { noteChange } from './changes.js';
import type { NetworkRef } from './networks.js';
import { createWantedCache } from './wanted-cache.js';

const COLUMNS = `w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at,
     w.owner, w.weight, w.windows, w.deadline, w.max_requests`;

/** $1 network id, $2 kinds (mask), $3 start, $4 end or null, $5 priority, $6 to $10 terms. */
const insertWanted = statement(
  'wanted/insert-wanted',
  `WITH w AS (
     INSERT INTO packhouse.wanted_range
       (network_id, kinds, start_block, end_block, priority, owner, weight, windows, deadline, max_requests)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     RETURNING *
   )
   SELECT ${COLUMNS} FROM w JOIN packhouse.network AS n ON n.id = w.network_id`,
);

/** $1 network or null for all. In the order they are worked on. */
const selectWanted = statement(
  'wanted/select-wanted',
  `SELECT ${COLUMNS}
   FROM packhouse.wanted_range AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE $1::text IS NULL OR n.name = $1::text
   ORDER BY w.priority, w.id`,
);

const ONE = `SELECT ${COLUMNS}
   FROM packhouse.wanted_range AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE w.id = $1`;

/** $1 id. */
const selectOne = statement('wanted/select-one', ONE);

/** $1 id. */
const lockWanted = statement('wanted/lock-wanted', `${ONE} FOR UPDATE OF w`);

/** $1 network id, $2 kinds (mask), $3 start, $4 end, $5 since or null. */
const selectPace = statement(
  'wanted/select-pace',
  `WITH day AS (
     SELECT clock_timestamp() AS now, greatest(clock_timestamp() - interval '1 day', $5::timestamptz) AS since
   ), published AS (
     SELECT kind, sum(least(end_block, $4::int8) - greatest(start_block, $3::int8) + 1)::int8 AS blocks,
       min(published_at) AS first
     FROM packhouse.bundle, day
     WHERE network_id = $1 AND ($2::int4 >> kind) & 1 = 1 AND start_block <= $4 AND end_block >= $3
       AND version = 1 AND published_at > day.since
     GROUP BY kind
   )
   SELECT day.now, day.since AS "from", coalesce(p.blocks, 0)::int8 AS blocks, p.first
   FROM day, (SELECT max(blocks) AS blocks, min(first) AS first FROM published) AS p`,
);

/** $1 id, $2 state, $3 priority, $4 to $8 terms. */
const updateWanted = statement(
  'wanted/update-wanted',
  `UPDATE packhouse.wanted_range SET state = $2, priority = $3, owner = $4, weight = $5, windows = $6, deadline = $7,
     max_requests = $8
   WHERE id = $1`,
);

/** Who changes what no operator changes. */
const NOBODY = 'packhouse';

type Pace = Awaited<ReturnType<Wanted['pace']>>;

interface Row {
  id: number;
  network: string;
  kinds: number;
  start_block: number;
  end_block: number | null;
  priority: number;
  state: WantedRange['state'];
  created_at: Date;
  owner: string;
  weight: number;
  windows: string[];
  deadline: Date | null;
  max_requests: number | null;
}

/** The ranges of a network that operators asked for. */
export function createWanted(connections: Connections, network: NetworkRef): Wanted {
  return {
    add: async ({ kinds, start, end, priority, ...terms }, who = NOBODY) => {
      const place = [await network.get(), kindsMask(kinds), start, end, priority];
      return connections.transaction(async (session) => {
        const values = [...place, ...termsOf({ ...DEFAULT_TERMS, ...terms })];
        const range = rangeOf((await session.query<Row>(insertWanted, values))[0]!);
        await noteChange(session, {
          who,
          subject: subjectOf(range),
          action: 'add',
          before: null,
          after: imageOf(range),
        });
        return range;
      });
    },
    list: async () => (await connections.query<Row>(selectWanted, [network.name])).map(rangeOf),
    pace: async ({ kinds, start, end }, since) => {
      const values = [await network.find(), kindsMask(kinds), start, end ?? Number.MAX_SAFE_INTEGER, since];
      return (await connections.query<Pace>(selectPace, values))[0]!;
    },
    ...createWantedCache(connections, network),
  };
}

/** The ranges of all networks. */
export function createAllWanted(connections: Connections): AllWanted {
  return {
    list: async () => (await connections.query<Row>(selectWanted, [null])).map(rangeOf),
    find: async (id) => (await connections.query<Row>(selectOne, [id])).map(rangeOf)[0] ?? null,
    change: (id, change, { who = NOBODY, action = 'set', check } = {}) =>
      connections.transaction(async (session) => {
        const [row] = await session.query<Row>(lockWanted, [id]);
        if (row === undefined) return null;
        const before = rangeOf(row);
        check?.(before);
        const after = { ...before, ...change };
        await session.query(updateWanted, [id, after.state, after.priority, ...termsOf(after)]);
        await noteChange(session, {
          ...{ who, subject: subjectOf(before), action },
          ...{ before: imageOf(before), after: imageOf(after) },
        });
        return { before, after };
      }),
  };
}

const DEFAULT_TERMS: RangeTerms = {
  owner: 'default',
  weight: 1,
  windows: [],
  deadline: null,
  maxRequests: null,
};

function termsOf({ owner, weight, windows, deadline, maxRequests }: RangeTerms): unknown[] {
  return [owner, weight, windows, deadline, maxRequests];
}

const subjectOf = ({ id }: WantedRange): string => `backfill ${id}`;

/** What a change keeps of a range. */
function imageOf({ id, createdAt, ...range }: WantedRange): Record<string, unknown> {
  return range;
}

function rangeOf(row: Row): WantedRange {
  return {
    id: row.id,
    network: row.network,
    kinds: kindsOf(row.kinds),
    start: row.start_block,
    end: row.end_block,
    priority: row.priority,
    state: row.state,
    createdAt: row.created_at,
    owner: row.owner,
    weight: row.weight,
    windows: row.windows,
    deadline: row.deadline,
    maxRequests: row.max_requests,
  };
}
