import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import { statement } from '../connection/connections.js';
import type { HoleReason } from './hole-reasons.js';
import { withReasons } from './hole-reasons-sql.js';

/** Blocks that follow one another and are not published for one reason. */
export interface Hole extends BlockRange {
  reason: HoleReason;
  /** Whether the blocks are staged: each is served as a single file already. */
  staged: boolean;
  /** Of a quarantined hole: error code, most attempts, first failure and earliest next try of its blocks. */
  quarantine: { cause: string; attempts: number; firstSeen: Date; nextTry: Date } | null;
}

/** Coverage of one kind within a range: published ranges and holes partition it. */
type KindHoles = {
  kind: Kind;
  published: BlockRange[];
  holes: Hole[];
};

/** A page of coverage: all of `range`, in every requested kind. */
type HolesPage = {
  /** null: no head is stored yet. */
  head: number | null;
  /** Highest final block, -1 if there is none; null if no head is stored yet. */
  finalized: number | null;
  range: BlockRange;
  /** The block that the next page begins with; null: this is the last page. */
  next: number | null;
  kinds: KindHoles[];
};

/**
 * $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit, $6 hints (see withReasons):
 * published ranges and holes with reasons, from the first block up to `last`, which is in every row.
 *
 * The window is limited first: it ends before the start of published run, requested run or quarantined row number limit + 1
 * of any kind. So it holds at least the holes of the page and at most a few times as many, and the rest of the statement
 * reads that window only.
 */
export const selectHoles = statement(
  'coverage/select-holes',
  `WITH border AS MATERIALIZED (
    SELECT least($4::int8, min(b.block) - 1) AS last
    FROM unnest($2::int4[]) AS k (kind), LATERAL (
      (SELECT first_block AS block FROM packhouse.published_run
       WHERE network_id = $1 AND kind = k.kind AND first_block > $3 AND first_block <= $4
       ORDER BY first_block OFFSET $5 LIMIT 1)
      UNION ALL
      (SELECT first_block FROM packhouse.quarantine
       WHERE network_id = $1 AND (kinds >> k.kind) & 1 = 1 AND first_block > $3 AND first_block <= $4
       ORDER BY first_block OFFSET $5 LIMIT 1)
      UNION ALL
      (SELECT w.first_block FROM (VALUES ('active'), ('paused'), ('cancelled')) AS s (state), LATERAL (
         SELECT first_block FROM packhouse.requested_run
         WHERE network_id = $1 AND kind = k.kind AND state = s.state AND first_block > $3 AND first_block <= $4
         ORDER BY first_block OFFSET $5 LIMIT 1
       ) AS w)
    ) AS b
  ),
  asked AS MATERIALIZED (
    SELECT $1::int4 AS network_id, k.kind, $3::int8 AS first, coalesce(b.last, $4::int8) AS last
    FROM unnest($2::int4[]) AS k (kind), border AS b
  ),
  ${withReasons('$6')},
  run AS MATERIALIZED (
    SELECT a.kind, greatest(r.first_block, a.first) AS first, least(r.last_block, a.last) AS last
    FROM asked AS a JOIN packhouse.published_run AS r ON r.network_id = $1 AND r.kind = a.kind
      AND r.first_block <= a.last AND r.last_block >= a.first
      AND r.first_block >= coalesce((
        SELECT max(o.first_block) FROM packhouse.published_run AS o
        WHERE o.network_id = $1 AND o.kind = a.kind AND o.first_block <= a.first
      ), a.first)
  ),
  published AS MATERIALIZED (
    SELECT kind, range_agg(int8range(first, last, '[]')) AS ranges FROM run GROUP BY kind
  ),
  hole AS MATERIALIZED (
    SELECT r.kind, r.reason, r.staged, lower(h) AS first, upper(h) - 1 AS last
    FROM reason AS r LEFT JOIN published AS p USING (kind), unnest(r.ranges - coalesce(p.ranges, '{}')) AS h
  )
  SELECT s.*, k.head, k.finalized, coalesce(b.last, $4::int8) AS last
  FROM (
    SELECT kind, NULL AS reason, false AS staged, first AS "firstBlock", last AS "lastBlock",
      NULL AS cause, NULL::int4 AS attempts, NULL::timestamptz AS "firstSeen", NULL::timestamptz AS "nextTry"
    FROM run
    UNION ALL
    SELECT h.kind, h.reason, h.staged, greatest(h.first, q.first_block), least(h.last, q.last_block),
      q.cause, q.attempts, q.first_seen, q.next_try
    FROM hole AS h LEFT JOIN packhouse.quarantine AS q ON h.reason = 'quarantined' AND q.network_id = $1
      AND (q.kinds >> h.kind) & 1 = 1
      AND int8range(q.first_block, q.last_block, '[]') && int8range(h.first, h.last, '[]')
  ) AS s, known AS k, border AS b
  ORDER BY s.kind, s."firstBlock"`,
);

/** A row of select-holes; published if it has no reason. */
export interface HoleRow extends BlockRange {
  kind: number;
  reason: HoleReason | null;
  staged: boolean;
  cause: string | null;
  attempts: number | null;
  firstSeen: Date | null;
  nextTry: Date | null;
  /** -1: none is stored. */
  head: number;
  finalized: number;
  /** The last block of the window. */
  last: number;
}

/**
 * Makes a page of the rows of a window. It ends before hole number limit + 1 of the kind that reaches that number
 * first; ranges of all kinds are cut there.
 */
export function cutPage(
  rows: readonly HoleRow[],
  { kinds, range, limit }: { kinds: readonly Kind[]; range: BlockRange; limit: number },
): HolesPage {
  const all = kinds.map((kind) => kindHoles(kind, rows));
  const [row] = rows;
  const beyond = all.map(({ holes }) => holes[limit]?.firstBlock).filter((start) => start !== undefined);
  const lastBlock = Math.min(row?.last ?? range.lastBlock, ...beyond.map((start) => start - 1));
  return {
    head: row === undefined || row.head < 0 ? null : row.head,
    finalized: row === undefined || row.head < 0 ? null : row.finalized,
    range: { firstBlock: range.firstBlock, lastBlock },
    next: lastBlock < range.lastBlock ? lastBlock + 1 : null,
    kinds: all.map(({ kind, published, holes }) => ({
      kind,
      published: within(published, lastBlock),
      holes: within(holes, lastBlock),
    })),
  };
}

function within<R extends BlockRange>(ranges: readonly R[], end: number): R[] {
  return ranges
    .filter((range) => range.firstBlock <= end)
    .map((range) => ({ ...range, lastBlock: Math.min(range.lastBlock, end) }));
}

function kindHoles(kind: Kind, rows: readonly HoleRow[]): KindHoles {
  const published: BlockRange[] = [];
  const holes: Hole[] = [];
  for (const row of rows) {
    if (row.kind !== kindCode(kind)) continue;
    if (row.reason === null) published.push({ firstBlock: row.firstBlock, lastBlock: row.lastBlock });
    else addHole(holes, getHole(row, row.reason));
  }
  return { kind, published, holes };
}

function getHole(
  { firstBlock, lastBlock, staged, cause, attempts, firstSeen, nextTry }: HoleRow,
  reason: HoleReason,
): Hole {
  const quarantine =
    cause === null || attempts === null || firstSeen === null || nextTry === null
      ? null
      : { cause, attempts, firstSeen, nextTry };
  return { firstBlock, lastBlock, reason, staged, quarantine };
}

/** Adds a hole; consecutive quarantined blocks that failed alike are one. */
function addHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  const [a, b] = [last?.quarantine, hole.quarantine];
  if (last === undefined || !a || !b || last.lastBlock !== hole.firstBlock - 1 || a.cause !== b.cause) {
    holes.push(hole);
    return;
  }
  last.lastBlock = hole.lastBlock;
  a.attempts = Math.max(a.attempts, b.attempts);
  if (b.firstSeen < a.firstSeen) a.firstSeen = b.firstSeen;
  if (b.nextTry < a.nextTry) a.nextTry = b.nextTry;
}
