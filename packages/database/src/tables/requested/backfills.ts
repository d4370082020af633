import { kindsMask } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';
import { noteChange } from '../operators/changes.js';
import { type Backfill, type BackfillTerms, createBackfillCache } from './backfill-cache.js';
import { createBackfillPages } from './backfill-pages.js';
import { COLUMNS, type Row, toBackfill } from './backfill-rows.js';

/** $1 network id, $2 kinds (mask), $3 first block, $4 last block or null, $5 priority, $6 to $10 terms. */
const insertBackfill = statement(
  'requested/insert-backfill',
  `WITH w AS (
     INSERT INTO packhouse.backfill
       (network_id, kinds, first_block, last_block, priority, owner, weight, windows, deadline, max_requests)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     RETURNING *
   )
   SELECT ${COLUMNS} FROM w JOIN packhouse.network AS n ON n.id = w.network_id`,
);

/** $1 network or null for all. In the order they are worked on. */
const selectBackfills = statement(
  'requested/select-backfills',
  `SELECT ${COLUMNS}
   FROM packhouse.backfill AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE $1::text IS NULL OR n.name = $1::text
   ORDER BY w.priority, w.id`,
);

/** $1 ids. */
const selectSome = statement(
  'requested/select-some',
  `SELECT ${COLUMNS}
   FROM packhouse.backfill AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE w.id = ANY ($1::int8[])`,
);

/** $1 id. */
const lockBackfill = statement(
  'requested/lock-backfill',
  `SELECT ${COLUMNS}
   FROM packhouse.backfill AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE w.id = $1 FOR UPDATE OF w`,
);

/** $1 id, $2 priority, $3 to $7 terms. */
const updateBackfill = statement(
  'requested/update-backfill',
  `UPDATE packhouse.backfill SET priority = $2, owner = $3, weight = $4, windows = $5, deadline = $6, max_requests = $7
   WHERE id = $1`,
);

/** $1 id, $2 state, $3 who pauses or cancels it, $4 reason or null. */
const updateState = statement(
  'requested/update-state',
  `UPDATE packhouse.backfill AS w SET state = $2,
     stopped_at = CASE WHEN $2::text <> 'active' THEN clock_timestamp() END,
     stopped_by = CASE WHEN $2::text <> 'active' THEN $3::text END,
     stopped_reason = CASE WHEN $2::text <> 'active' THEN $4::text END
   FROM packhouse.network AS n WHERE w.id = $1 AND n.id = w.network_id RETURNING ${COLUMNS}`,
);

/** $1 id: so that its row can be locked. */
const insertUsage = statement(
  'requested/insert-usage',
  `INSERT INTO packhouse.backfill_usage (backfill_id, day, requests, units, bytes)
   VALUES ($1, (now() AT TIME ZONE 'UTC')::date - date '1970-01-01', 0, 0, 0) ON CONFLICT DO NOTHING`,
);

/** $1 id. */
const lockUsage = statement(
  'requested/lock-usage',
  `SELECT greatest(u.requests, u.allowed) AS used, w.max_requests AS "maxRequests"
   FROM packhouse.backfill_usage AS u JOIN packhouse.backfill AS w ON w.id = u.backfill_id
   WHERE u.backfill_id = $1 FOR UPDATE OF u`,
);

/** $1 id, $2 allowed. */
const updateAllowed = statement(
  'requested/update-allowed',
  'UPDATE packhouse.backfill_usage SET allowed = $2 WHERE backfill_id = $1',
);

const selectVersions = statement(
  'requested/select-versions',
  `SELECT n.name, v.version FROM packhouse.requested_version AS v JOIN packhouse.network AS n ON n.id = v.network_id`,
);

/** Who changes what no operator changes. */
const NOBODY = 'packhouse';

/** The backfills of a network. */
export function createBackfills(connections: Connections, network: NetworkRef) {
  return {
    /** Adds a backfill, by default of owner `default`, weight 1 and no other terms, and notes it in `changes`. */
    async add(
      given: Pick<Backfill, 'kinds' | 'from' | 'to' | 'priority'> & Partial<BackfillTerms>,
      actor = NOBODY,
    ): Promise<Backfill> {
      const { kinds, from, to, priority, ...terms } = given;
      const place = [await network.get(), kindsMask(kinds), from, to, priority];
      return connections.transaction(async (session) => {
        const values = [...place, ...toTerms({ ...DEFAULT_TERMS, ...terms })];
        const after = toBackfill((await session.queryOne<Row>(insertBackfill, values))!);
        await noteChange(session, { actor, action: 'add', ...toImages(null, after) });
        return after;
      });
    },
    list: async () => (await connections.query<Row>(selectBackfills, [network.name])).map(toBackfill),
    ...createBackfillCache(connections, network),
  };
}

/** The backfills of all networks. */
export function createAllBackfills(connections: Connections) {
  const some = async (ids: readonly number[]): Promise<Backfill[]> =>
    (await connections.query<Row>(selectSome, [ids])).map(toBackfill);
  return {
    /** In the order they are worked on. */
    list: async () => (await connections.query<Row>(selectBackfills, [null])).map(toBackfill),
    find: async (id: number) => (await some([id]))[0] ?? null,
    /** In the order of the ids; unknown ones are left out. */
    async findAll(ids: readonly number[]): Promise<Backfill[]> {
      const found = new Map((await some(ids)).map((row) => [row.id, row]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },
    ...createBackfillPages(connections),
    /** By network: a text that changes whenever what is requested of it does, or another database answers. */
    async versions(): Promise<ReadonlyMap<string, string>> {
      const rows = await connections.query<{ name: string; version: number }>(selectVersions, []);
      const incarnation = connections.incarnation();
      return new Map(rows.map(({ name, version }) => [name, `${incarnation}/${version}`]));
    },
    /**
     * Takes requests from what a backfill may still send, over all processes, before they are sent; returns how many of
     * them it may send. A negative number gives back what was not sent.
     */
    takeRequests(id: number, requests: number): Promise<number> {
      return connections.transaction(async (session) => {
        await session.query(insertUsage, [id]);
        const row = await session.queryOne<{ used: number; maxRequests: number | null }>(lockUsage, [id]);
        const { used = 0, maxRequests = null } = row ?? {};
        const granted = Math.min(requests, maxRequests === null ? requests : Math.max(0, maxRequests - used));
        await session.query(updateAllowed, [id, used + granted]);
        return granted;
      });
    },
    /**
     * Changes what is given of a backfill, under its lock, and notes it in `changes` as `action` (default `set`) of
     * `actor`. `check` may throw first, also under the lock. A `reason` is that of a pause or cancellation: one that is
     * stopped already keeps its own, unless another is given. Returns it before and after; null if there is none.
     */
    change(
      id: number,
      change: Partial<BackfillTerms & Pick<Backfill, 'priority' | 'state'>>,
      by: {
        actor?: string;
        action?: string;
        reason?: string | undefined;
        check?: (before: Backfill) => void;
      } = {},
    ): Promise<{ before: Backfill; after: Backfill } | null> {
      const { actor = NOBODY, action = 'set', reason, check } = by;
      return connections.transaction(async (session) => {
        const row = await session.queryOne<Row>(lockBackfill, [id]);
        if (row === null) return null;
        const before = toBackfill(row);
        check?.(before);
        let after = { ...before, ...change };
        await session.query(updateBackfill, [id, after.priority, ...toTerms(after)]);
        if (after.state !== before.state || (reason !== undefined && after.state !== 'active')) {
          const values = [id, after.state, actor, reason ?? null];
          after = toBackfill((await session.queryOne<Row>(updateState, values))!);
        }
        await noteChange(session, { actor, action, ...toImages(before, after) });
        return { before, after };
      });
    },
  };
}

const DEFAULT_TERMS: BackfillTerms = {
  owner: 'default',
  weight: 1,
  windows: [],
  deadline: null,
  maxRequests: null,
};

function toTerms({ owner, weight, windows, deadline, maxRequests }: BackfillTerms): unknown[] {
  return [owner, weight, windows, deadline, maxRequests];
}

/** What a change keeps of a backfill. */
function toImages(before: Backfill | null, after: Backfill) {
  const image = ({ id, createdAt, stopped, ...rest }: Backfill): object => {
    return typeof stopped?.reason === 'string' ? { ...rest, reason: stopped.reason } : rest;
  };
  return { subject: `backfill ${after.id}`, before: before && image(before), after: image(after) };
}
