import { kindsMask } from '../connection/codes.js';
import type { QueueHints } from './hole-reasons.js';

/**
 * The reasons of all blocks of windows as if nothing were published: `reason (network_id, kind, reason, staged, ranges)`.
 * The ranges of a network and kind partition its window. Needs a table `asked (network_id, kind, first, last)`; `hints` is
 * the parameter with hintsJson.
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
export const withReasons = (hints: string): string => `
  known AS MATERIALIZED (
    SELECT n.id AS network_id, coalesce(h.block, -1) AS head, coalesce(h.finalized, -1) AS finalized,
      EXISTS (SELECT FROM packhouse.back_pressure WHERE network_id = n.id) AS full,
      EXISTS (
        SELECT FROM packhouse.alarm
        WHERE network_id = n.id AND name = 'REORG_BELOW_FINALITY' AND cleared_at IS NULL
      ) AS halted
    FROM (SELECT DISTINCT network_id AS id FROM asked) AS n LEFT JOIN packhouse.head AS h ON h.network_id = n.id
  ),
  hinted AS MATERIALIZED (
    SELECT n.id AS network_id, k.kind, range_agg(int8range(j.first, j.last, '[]')) FILTER (WHERE j.running) AS fetching,
      range_agg(int8range(j.first, j.last, '[]')) AS queued
    FROM jsonb_to_recordset(${hints}::jsonb -> 'windows') AS j (network text, kinds int4, first int8, last int8,
        running bool)
      JOIN packhouse.network AS n ON n.name = j.network, generate_series(0, 7) AS k (kind)
    WHERE (j.kinds >> k.kind) & 1 = 1
    GROUP BY n.id, k.kind
  ),
  packed AS MATERIALIZED (
    SELECT n.id AS network_id, j.kinds
    FROM jsonb_to_recordset(${hints}::jsonb -> 'packing') AS j (network text, kinds int4)
      JOIN packhouse.network AS n ON n.name = j.network
  ),
  part AS MATERIALIZED (
    SELECT a.network_id, a.kind, int8multirange(int8range(a.first, a.last, '[]')) AS everything,
      int8multirange(int8range(k.finalized + 1, NULL)) AS open,
      int8multirange(int8range(k.head + 1, NULL)) AS ahead,
      (SELECT coalesce(range_agg(int8range(f.first_block, f.last_block, '[]')), '{}')
       FROM packhouse.fragment AS f
       WHERE f.network_id = a.network_id AND f.kind = a.kind
         AND f.first_block BETWEEN a.first - 1023 AND a.last) AS staged,
      (SELECT coalesce(range_agg(int8range(q.first_block, q.last_block, '[]')), '{}')
       FROM packhouse.quarantine AS q
       WHERE q.network_id = a.network_id AND (q.kinds >> a.kind) & 1 = 1
         AND int8range(q.first_block, q.last_block, '[]') && int8range(a.first, a.last, '[]')) AS quarantined,
      w.active, w.paused, w.cancelled,
      coalesce(h.fetching, '{}') AS fetching, coalesce(h.queued, '{}') AS queued,
      coalesce((c.kinds >> a.kind) & 1 = 1, false) AS is_packed
    FROM asked AS a JOIN known AS k ON k.network_id = a.network_id
      LEFT JOIN hinted AS h ON h.network_id = a.network_id AND h.kind = a.kind
      LEFT JOIN packed AS c ON c.network_id = a.network_id, LATERAL (
      SELECT coalesce(range_agg(r.range) FILTER (WHERE r.state = 'active'), '{}') AS active,
        coalesce(range_agg(r.range) FILTER (WHERE r.state = 'paused'), '{}') AS paused,
        coalesce(range_agg(r.range) FILTER (WHERE r.state = 'cancelled'), '{}') AS cancelled
      FROM (
        SELECT s.state, int8range(w.first_block, w.last_block, '[]') AS range
        FROM (VALUES ('active'), ('paused'), ('cancelled')) AS s (state), packhouse.requested_run AS w
        WHERE w.network_id = a.network_id AND w.kind = a.kind AND w.state = s.state AND w.first_block <= a.last
          AND w.last_block >= a.first AND w.first_block >= coalesce((
            SELECT max(o.first_block) FROM packhouse.requested_run AS o
            WHERE o.network_id = a.network_id AND o.kind = a.kind AND o.state = s.state AND o.first_block <= a.first
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
    SELECT d.network_id, d.kind, r.reason, r.staged, r.ranges
    FROM due AS d JOIN known AS k ON k.network_id = d.network_id, LATERAL (VALUES
      (CASE WHEN d.is_packed THEN 'packing' ELSE 'staged' END, true,
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

/** The state of the queue by network, as withReasons takes it. */
export function hintsJson(hints: ReadonlyMap<string, QueueHints>): string {
  const all = [...hints];
  return JSON.stringify({
    windows: all.flatMap(([network, { windows }]) =>
      windows.map(({ firstBlock: first, lastBlock: last, kinds, running }) => {
        return { network, first, last, kinds: kindsMask(kinds), running };
      }),
    ),
    packing: all.map(([network, { packing }]) => ({ network, kinds: kindsMask(packing) })),
  });
}
