import { type Connections, statement } from '../connection/connections.js';

/** $1 subject, $2 first minute, $3 last minute, $4 minutes of a step. */
const selectRecent = statement(
  'history/select-recent',
  `SELECT s.name, r.points FROM (
     SELECT m.series, json_agg(json_build_array(m.step, m.mean)) AS points FROM (
       SELECT u.series, (r.minute - $2::int4) / $4::int4 AS step, avg(u.value)::float4 AS mean
       FROM packhouse.history_recent AS r, unnest(r.series, r.figures) AS u (series, value)
       WHERE r.subject = $1 AND r.minute BETWEEN $2 AND $3
       GROUP BY u.series, step
     ) AS m GROUP BY m.series
   ) AS r JOIN packhouse.history_series AS s ON s.id = r.series
   ORDER BY s.name`,
);

/** A small curve: for each step the mean of its samples; null: there is none. */
type RecentCurve = {
  name: string;
  points: (number | null)[];
};

/** Reads the blocks of all networks, or the calls of all nodes, within the last two hours, as means of steps. */
export async function readRecent(
  connections: Connections,
  given: { subject: 'network' | 'node'; first: number; last: number; stepMinutes: number },
): Promise<RecentCurve[]> {
  const { subject, first, last, stepMinutes } = given;
  type Row = { name: string; points: [step: number, mean: number | null][] };
  const rows = await connections.query<Row>(selectRecent, [subject, first, last, stepMinutes]);
  const steps = Math.floor((last - first) / stepMinutes) + 1;
  return rows.map(({ name, points: found }) => {
    const points = Array.from({ length: steps }, (): number | null => null);
    for (const [step, mean] of found) points[step] = mean;
    return { name, points };
  });
}
