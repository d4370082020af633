import { type Connections, statement } from '../connection/connections.js';
import { type Fence, fenceValues, requireLease } from '../connection/leases.js';
import { HOUR_DAYS, MINUTE_HOURS, SPARSE } from './figures.js';

/** $1 the present hour: the oldest hour before it of which there are minutes. */
const selectOldest = statement(
  'history/select-oldest',
  'SELECT min(minute) / 60 AS hour FROM packhouse.history_minute WHERE minute < $1::int4 * 60',
);

/** $1 hour. */
const insertHour = statement(
  'history/insert-hour',
  `INSERT INTO packhouse.history_hour (hour, series, minutes, figures)
   SELECT $1::int4, series, array_agg((minute - $1::int4 * 60)::int2 ORDER BY minute),
     array_agg(figures ORDER BY minute)
   FROM packhouse.history_minute WHERE minute BETWEEN $1::int4 * 60 AND $1::int4 * 60 + 59
   GROUP BY series
   ON CONFLICT (series, hour) DO NOTHING`,
);

/**
 * $1 hour, $2 subjects without a row for a minute in which they did nothing: their mean is over all sampled minutes. An
 * hour that the day has stays as it is.
 */
const upsertDay = statement(
  'history/upsert-day',
  `WITH sampled AS (
     SELECT cardinality(h.minutes) AS minutes FROM packhouse.history_hour AS h
     JOIN packhouse.history_series AS s ON s.id = h.series
     WHERE h.hour = $1::int4 AND s.subject = 'installation'
   ), means AS (
     SELECT h.series, f.figure,
       CASE WHEN s.subject = ANY ($2::text[]) THEN sum(f.value::float8) / (SELECT minutes FROM sampled)
         ELSE avg(f.value::float8) END AS mean
     FROM packhouse.history_hour AS h
     JOIN packhouse.history_series AS s ON s.id = h.series
     CROSS JOIN LATERAL (
       SELECT value, (n - 1) % array_length(h.figures, 2) AS figure
       FROM unnest(h.figures) WITH ORDINALITY AS u (value, n)
     ) AS f
     WHERE h.hour = $1::int4
     GROUP BY h.series, f.figure, s.subject
   )
   INSERT INTO packhouse.history_day AS d (day, series, hours, figures)
   SELECT $1::int4 / 24, series, ARRAY[($1::int4 % 24)::int2], ARRAY[array_agg(mean::float4 ORDER BY figure)]
   FROM means GROUP BY series
   ON CONFLICT (series, day) DO UPDATE SET hours = d.hours || excluded.hours, figures = d.figures || excluded.figures
     WHERE NOT excluded.hours[1] = ANY (d.hours)`,
);

/** $1 hour. */
const deleteMinutes = statement(
  'history/delete-minutes',
  'DELETE FROM packhouse.history_minute WHERE minute BETWEEN $1::int4 * 60 AND $1::int4 * 60 + 59',
);

/** $1 the present hour. */
const deleteOldHours = statement(
  'history/delete-old-hours',
  `DELETE FROM packhouse.history_hour
   WHERE hour < $1::int4 - ${MINUTE_HOURS} AND hour <= (SELECT min(hour) FROM packhouse.history_hour) + 1`,
);

/** $1 the present hour. */
const deleteOldDays = statement(
  'history/delete-old-days',
  `DELETE FROM packhouse.history_day WHERE day = (SELECT min(day) FROM packhouse.history_day)
     AND day < $1::int4 / 24 - ${HOUR_DAYS}`,
);

/** Hours that one call rolls up at most. */
const MAX_HOURS = 48;

/**
 * Makes one row a series of the minutes of each hour that has ended, adds the means of the hour to its day, and deletes
 * what is older than is kept: two hours and a day at most, so that a clock that is set to the wrong year for a while
 * costs little. One transaction an hour; what was rolled up before stays as it is. Throws LEASE_LOST.
 */
export async function rollUp(connections: Connections, hour: number, fence: Fence): Promise<number> {
  let rolled = 0;
  for (; rolled < MAX_HOURS; rolled++) {
    const oldest = (await connections.queryOne<{ hour: number | null }>(selectOldest, [hour]))?.hour ?? null;
    if (oldest === null) break;
    await connections.transaction(async (session) => {
      await session.query(insertHour, [oldest]);
      await session.query(upsertDay, [oldest, SPARSE]);
      await session.query(deleteMinutes, [oldest]);
      await session.query(requireLease, fenceValues(fence));
    });
  }
  await connections.transaction(async (session) => {
    await session.query(deleteOldHours, [hour]);
    await session.query(deleteOldDays, [hour]);
    await session.query(requireLease, fenceValues(fence));
  });
  return rolled;
}
