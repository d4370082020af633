import { KINDS, type Kind } from '@packhouse/chain';
import { kindsMask } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { Backfill } from './backfill-cache.js';
import { COLUMNS, type Row, toBackfill } from './backfill-rows.js';

/** What a list of backfills shows: `done` is all that is published whole, `active` what is still worked on. */
export const BACKFILL_FILTERS = ['active', 'paused', 'done', 'cancelled'] as const;

type BackfillPage = {
  network?: string | undefined;
  state?: (typeof BACKFILL_FILTERS)[number] | undefined;
  owner?: string | undefined;
  /** IDs, blocks, and parts of network, owner and kinds, with spaces between: a backfill has all of them. */
  search?: string | undefined;
  /** Only backfills behind this ID. */
  after?: number | undefined;
  limit: number;
};

/** $1 network, $2 state, $3 owner, each null for all, $4 words as JSON. */
const MATCHING = `
  SELECT w.id, w.priority FROM packhouse.backfill AS w JOIN packhouse.network AS n ON n.id = w.network_id
  WHERE ($1::text IS NULL OR n.name = $1::text) AND ($3::text IS NULL OR w.owner = $3::text)
    AND ($2::text IS NULL OR CASE WHEN w.state = 'active' AND w.done THEN 'done' ELSE w.state END = $2::text)
    AND NOT EXISTS (
      SELECT FROM jsonb_to_recordset($4::jsonb) AS s (word text, kinds int4, number int8)
      WHERE NOT CASE WHEN s.number IS NULL
        THEN strpos(lower(n.name), s.word) > 0 OR strpos(w.owner, s.word) > 0 OR (w.kinds & s.kinds) <> 0
        ELSE w.id = s.number
          OR s.number BETWEEN w.first_block AND coalesce(w.last_block, ${Number.MAX_SAFE_INTEGER}) END
    )`;

/** $5 the ID to begin behind or null, $6 limit: in the order they are worked on. */
const selectPage = statement(
  'requested/select-page',
  `WITH matching AS MATERIALIZED (${MATCHING})
   SELECT ${COLUMNS} FROM (
     SELECT m.id FROM matching AS m
     WHERE $5::int8 IS NULL
       OR (m.priority, m.id) > (SELECT priority, id FROM packhouse.backfill WHERE id = $5::int8)
     ORDER BY m.priority, m.id LIMIT $6::int8
   ) AS p JOIN packhouse.backfill AS w USING (id) JOIN packhouse.network AS n ON n.id = w.network_id
   ORDER BY w.priority, w.id`,
);

const countPage = statement('requested/count-page', `SELECT count(*) AS count FROM (${MATCHING}) AS m`);

const selectOwners = statement(
  'requested/select-owners',
  'SELECT owner, count(*) AS backfills FROM packhouse.backfill GROUP BY owner ORDER BY owner LIMIT 1000',
);

/** How many backfills of a network are in a state. */
export interface BackfillGroup {
  network: string;
  state: Backfill['state'];
  backfills: number;
  /** When the first of them was created. */
  createdAt: Date;
  /** When the first of them was paused or cancelled; null: they are active. */
  stoppedAt: Date | null;
}

/** $1 ids that are left out. */
const selectGroups = statement(
  'requested/select-groups',
  `SELECT n.name AS network, w.state, count(*) AS backfills, min(w.created_at) AS "createdAt",
     min(w.stopped_at) AS "stoppedAt"
   FROM packhouse.backfill AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE w.id <> ALL ($1::int8[])
   GROUP BY n.name, w.state ORDER BY n.name, w.state`,
);

/** Reads lists of backfills a page at a time, and how many there are. */
export function createBackfillPages(connections: Connections) {
  return {
    /** In the order they are worked on; `matching` is how many there are on all pages. */
    async page({ network, state, owner, search = '', after, limit }: BackfillPage): Promise<{
      rows: Backfill[];
      more: boolean;
      matching: number;
    }> {
      const filter = [network ?? null, state ?? null, owner ?? null, JSON.stringify(toWords(search))];
      const [rows, count] = await Promise.all([
        connections.query<Row>(selectPage, [...filter, after ?? null, limit + 1]),
        connections.queryOne<{ count: number }>(countPage, filter),
      ]);
      const more = rows.length > limit;
      return { rows: rows.slice(0, limit).map(toBackfill), more, matching: count?.count ?? 0 };
    },
    /** By network and state; some backfills may be left out. */
    groups: (without: readonly number[] = []) => connections.query<BackfillGroup>(selectGroups, [without]),
    /** The owners of backfills, at most 1,000, by name. */
    owners: () => connections.query<{ owner: string; backfills: number }>(selectOwners, []),
  };
}

/** A number has only digits, commas and underscores; one that is too large for a block matches nothing. */
function toWords(search: string): { word: string; kinds: number; number: number | null }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => {
    const kinds = kindsMask(KINDS.filter((kind: Kind) => kind.includes(word)));
    if (!/^\d[\d,_]*$/.test(word)) return { word, kinds, number: null };
    const number = Number(word.replace(/[,_]/g, ''));
    return { word, kinds, number: Number.isSafeInteger(number) ? number : -1 };
  });
}
