import { type Connections, statement } from '../connection/connections.js';
import type { HistorySubject } from './figures.js';
import type { Figures } from './samples.js';
import { OTHERS } from './series.js';

/** $1 subject, $2 name: its series, or else that of the others, and that of the installation. */
const selectSeries = statement(
  'history/find-series',
  `SELECT
     (SELECT id FROM packhouse.history_series WHERE subject = $1 AND name = $2) AS own,
     (SELECT id FROM packhouse.history_series WHERE subject = $1 AND name = '') AS others,
     (SELECT id FROM packhouse.history_series WHERE subject = 'installation' AND name = 'all') AS installation`,
);

/** $1 series, $2 first minute, $3 last minute, $4 whether with figures. */
const selectHours = statement(
  'history/select-hours',
  `SELECT hour * 60 AS start, minutes AS units, CASE WHEN $4 THEN to_json(figures) END AS figures FROM packhouse.history_hour
   WHERE series = $1 AND hour BETWEEN $2::int4 / 60 AND $3::int4 / 60 ORDER BY hour`,
);

/** $1 series, $2 minutes, $3 whether with figures. */
const selectMinutes = statement(
  'history/select-minutes',
  `SELECT minute AS start, '{0}'::int2[] AS units, CASE WHEN $3 THEN json_build_array(to_json(figures)) END AS figures
   FROM packhouse.history_minute WHERE series = $1 AND minute = ANY ($2::int4[]) ORDER BY minute`,
);

/** $1 the first minute: minutes that are in no row of an hour yet. */
const selectPending = statement(
  'history/select-pending',
  `SELECT min(minute) AS first, max(minute) AS last FROM packhouse.history_minute WHERE minute >= $1`,
);

/** $1 series, $2 first hour, $3 last hour, $4 whether with figures. */
const selectDays = statement(
  'history/select-days',
  `SELECT day * 24 AS start, hours AS units, CASE WHEN $4 THEN to_json(figures) END AS figures FROM packhouse.history_day
   WHERE series = $1 AND day BETWEEN $2::int4 / 24 AND $3::int4 / 24 ORDER BY day`,
);

interface Row {
  start: number;
  units: number[];
  figures: Figures[] | null;
}

/** The samples of a series within a range of time. */
type SeriesSamples = {
  /** Figures in the order of HISTORY_FIGURES, by minute or hour since 1970-01-01. */
  samples: ReadonlyMap<number, Figures>;
  /** The minutes or hours in which anything was sampled. */
  sampled: ReadonlySet<number>;
  /** Whether it has samples of its own: `others`, it is summed with others; `none`, there is nothing of it. */
  kept: 'own' | 'others' | 'none';
};

/** A hundred hours of minutes that were not rolled up are far more than there are. */
const MAX_PENDING = 6_000;

/** Reads the samples of a series; `first` and `last` are minutes or hours since 1970-01-01. */
export async function readSeries(
  connections: Connections,
  given: { subject: HistorySubject; name: string; unit: 'minute' | 'hour'; first: number; last: number },
): Promise<SeriesSamples> {
  const { subject, name, unit, first, last } = given;
  const ids = await connections.queryOne<Record<'own' | 'others' | 'installation', number | null>>(
    selectSeries,
    [subject, name],
  );
  const { own = null, others = null, installation = null } = ids ?? {};
  const read = unit === 'hour' ? readHours : readMinutes;
  const [samples, all] = await Promise.all([
    own === null ? new Map<number, Figures>() : read(connections, own, { first, last, figures: true }),
    installation === null || installation === own
      ? undefined
      : read(connections, installation, { first, last, figures: false }),
  ]);
  const kept = own !== null ? 'own' : others !== null && name !== OTHERS ? 'others' : 'none';
  return { samples, sampled: new Set((all ?? samples).keys()), kept };
}

interface TimeRange {
  first: number;
  last: number;
  /** Whether figures are wanted, or only when there are some. */
  figures: boolean;
}

async function readHours(
  connections: Connections,
  series: number,
  { first, last, figures }: TimeRange,
): Promise<Map<number, Figures>> {
  return toMap(await connections.query<Row>(selectDays, [series, first, last, figures]), first, last);
}

async function readMinutes(
  connections: Connections,
  series: number,
  { first, last, figures }: TimeRange,
): Promise<Map<number, Figures>> {
  // The pending ones first: an hour that is rolled up meanwhile is read from both, and has the same samples.
  const pending = await connections.queryOne<{ first: number | null; last: number | null }>(selectPending, [
    first,
  ]);
  const [from, to] = [pending?.first ?? last + 1, Math.min(last, pending?.last ?? 0)];
  const length = Math.min(MAX_PENDING, Math.max(0, to - from + 1));
  const minutes = Array.from({ length }, (_, at) => to - at);
  const rows = length === 0 ? [] : await connections.query<Row>(selectMinutes, [series, minutes, figures]);
  const hours = await connections.query<Row>(selectHours, [series, first, last, figures]);
  return toMap([...hours, ...rows], first, last);
}

function toMap(rows: readonly Row[], first: number, last: number): Map<number, Figures> {
  const found = new Map<number, Figures>();
  for (const { start, units, figures } of rows) {
    for (const [at, unit] of units.entries()) {
      const time = start + unit;
      if (time >= first && time <= last) found.set(time, figures?.[at] ?? []);
    }
  }
  return found;
}
