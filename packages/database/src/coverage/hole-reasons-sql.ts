import type { BlockRange, Kind } from '@packhouse/chain';
import { kindsMask } from '../connection/codes.js';

/** Reasons why a block of a kind is not published; the pipeline explains how each is resolved. */
export const HOLE_REASONS = [
  'not-requested',
  'cancelled',
  'paused',
  'waiting',
  'throttled',
  'halted',
  'queued',
  'fetching',
  'quarantined',
  'staged',
  'packing',
  'not-finalized',
  'not-produced',
] as const;

/** The reason why a block of a kind is not published. */
export type HoleReason = (typeof HOLE_REASONS)[number];

/** State of the queue; used only to tell `queued`, `fetching` and `packing` from `waiting` and `staged`. */
export interface QueueHints {
  windows: readonly (BlockRange & { kinds: readonly Kind[]; running: boolean })[];
  /** Kinds that are being packed. */
  packing: readonly Kind[];
}

/**
 * The reasons of all blocks of a window as if nothing were published: `reason (kind, reason, staged, ranges)`. The
 * ranges of a kind partition the window. Needs a table `asked (kind, first, last)`. Uses $1 network id and the hints
 * $6 to $10 of the queue: kinds (masks), starts, ends and running flags of the ingest windows, and the mask of the
 * kinds that are being packed.
 *
 * Published ranges are left out: they may be hundreds of thousands. The caller subtracts the
 * published blocks from each range through the index.
 *
 * While a chain differs below finality (the one alarm that halts a network), nothing is planned for it.
 *
 * The first reason that applies is used: staged, beyond the head, quarantined (while requested), active, paused,
 * cancelled, never asked for. The steps are materialized, or Postgres would inline each into the next and compute
 * the first dozens of times.
 */
export const WITH_REASONS = `
  known AS MATERIALIZED (
    SELECT coalesce(h.block, -1) AS head, coalesce(h.finalized, -1) AS finalized,
      EXISTS (SELECT FROM packhouse.back_pressure WHERE network_id = $1) AS full,
      EXISTS (
        SELECT FROM packhouse.alarm
        WHERE network_id = $1 AND name = 'REORG_BELOW_FINALITY' AND cleared_at IS NULL
      ) AS halted
    FROM (SELECT $1::int4 AS id) AS n LEFT JOIN packhouse.head AS h ON h.network_id = n.id
  ),
  part AS MATERIALIZED (
    SELECT a.kind, int8multirange(int8range(a.first, a.last, '[]')) AS everything,
      int8multirange(int8range(k.finalized + 1, NULL)) AS open,
      int8multirange(int8range(k.head + 1, NULL)) AS ahead,
      (SELECT coalesce(range_agg(int8range(f.first_block, f.last_block, '[]')), '{}')
       FROM packhouse.fragment AS f
       WHERE f.network_id = $1 AND f.kind = a.kind AND f.first_block BETWEEN a.first - 1023 AND a.last) AS staged,
      (SELECT coalesce(range_agg(int8range(q.first_block, q.last_block, '[]')), '{}')
       FROM packhouse.quarantine AS q
       WHERE q.network_id = $1 AND (q.kinds >> a.kind) & 1 = 1
         AND int8range(q.first_block, q.last_block, '[]') && int8range(a.first, a.last, '[]')) AS quarantined,
      w.active, w.paused, w.cancelled,
      (SELECT coalesce(range_agg(int8range(j.first, j.last, '[]')) FILTER (WHERE j.running), '{}')
       FROM unnest($6::int4[], $7::int8[], $8::int8[], $9::bool[]) AS j (kinds, first, last, running)
       WHERE (j.kinds >> a.kind) & 1 = 1) AS fetching,
      (SELECT coalesce(range_agg(int8range(j.first, j.last, '[]')), '{}')
       FROM unnest($6::int4[], $7::int8[], $8::int8[]) AS j (kinds, first, last)
       WHERE (j.kinds >> a.kind) & 1 = 1) AS queued
    FROM asked AS a, known AS k, LATERAL (
      SELECT coalesce(range_agg(r.range) FILTER (WHERE r.state = 'active'), '{}') AS active,
        coalesce(range_agg(r.range) FILTER (WHERE r.state = 'paused'), '{}') AS paused,
        coalesce(range_agg(r.range) FILTER (WHERE r.state = 'cancelled'), '{}') AS cancelled
      FROM (
        SELECT s.state, int8range(w.first_block, w.last_block, '[]') AS range
        FROM (VALUES ('active'), ('paused'), ('cancelled')) AS s (state), packhouse.requested_run AS w
        WHERE w.network_id = $1 AND w.kind = a.kind AND w.state = s.state AND w.first_block <= a.last
          AND w.last_block >= a.first AND w.first_block >= coalesce((
            SELECT max(o.first_block) FROM packhouse.requested_run AS o
            WHERE o.network_id = $1 AND o.kind = a.kind AND o.state = s.state AND o.first_block <= a.first
          ), a.first)
      ) AS r
    ) AS w
  ),
  absent AS MATERIALIZED (
    SELECT *, everything - staged - ahead AS here FROM part
  ),
  held AS MATERIALIZED (
    SELECT *, here * quarantined * (active + paused) AS quarantine FROM absent
  ),
  due AS MATERIALIZED (
    SELECT *, here - quarantine - active AS idle, (here - quarantine) * active - open AS live FROM held
  ),
  reason AS MATERIALIZED (
    SELECT d.kind, r.reason, r.staged, r.ranges
    FROM due AS d, known AS k, LATERAL (VALUES
      (CASE WHEN ($10::int4 >> d.kind) & 1 = 1 THEN 'packing' ELSE 'staged' END, true,
        d.everything * d.staged - d.open),
      ('not-finalized', true, d.everything * d.staged * d.open),
      ('not-produced', false, d.everything * d.ahead - d.staged),
      ('quarantined', false, d.quarantine),
      ('not-finalized', false, (d.here - d.quarantine) * d.active * d.open),
      ('fetching', false, d.live * d.fetching),
      ('queued', false, d.live * d.queued - d.fetching),
      (CASE WHEN k.halted THEN 'halted' WHEN k.full THEN 'throttled' ELSE 'waiting' END, false,
        d.live - d.queued),
      ('paused', false, d.idle * d.paused),
      ('cancelled', false, d.idle * d.cancelled - d.paused),
      ('not-requested', false, d.idle - d.paused - d.cancelled)
    ) AS r (reason, staged, ranges)
    WHERE NOT isempty(r.ranges)
  )`;

/** $6 to $10 of WITH_REASONS. */
export function hintValues(hints: QueueHints = { windows: [], packing: [] }): unknown[] {
  const { windows, packing } = hints;
  return [
    windows.map(({ kinds }) => kindsMask(kinds)),
    windows.map(({ firstBlock }) => firstBlock),
    windows.map(({ lastBlock }) => lastBlock),
    windows.map(({ running }) => running),
    kindsMask(packing),
  ];
}
