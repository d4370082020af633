import { type Connections, statement } from '../connection/connections.js';
import { type Fence, fenceValues, requireLease } from '../connection/leases.js';
import { HISTORY_FIGURES, type HistorySubject, NOT_SUMMED } from './figures.js';
import { OTHERS, readSeriesIds } from './series.js';

/** Figures in the order of HISTORY_FIGURES; null: unknown. */
export type Figures = readonly (number | null)[];

/** What was sampled at one time: the installation, and the others by name. */
export interface HistorySample {
  /** Minutes since 1970-01-01, the one that has just ended. */
  minute: number;
  installation: Figures;
  named: Readonly<Record<Exclude<HistorySubject, 'installation'>, ReadonlyMap<string, Figures>>>;
}

/** How long a row of history_recent is kept, also one of a clock that was wrong. */
const RECENT_MINUTES = 120;

/** $1 minute, $2 series of the installation, $3 its figures, $4 the others, as JSON. */
const insertSample = statement(
  'history/insert-sample',
  `WITH claimed AS (
     INSERT INTO packhouse.history_minute (minute, series, figures)
     SELECT $1::int4, $2::int4, $3::float4[]
     WHERE NOT EXISTS (SELECT FROM packhouse.history_hour WHERE series = $2::int4 AND hour = $1::int4 / 60)
     ON CONFLICT (minute, series) DO NOTHING RETURNING 1
   ), others AS (
     INSERT INTO packhouse.history_minute (minute, series, figures)
     SELECT $1::int4, series, figures
     FROM jsonb_to_recordset($4::jsonb) AS given (series int4, figures float4[])
     WHERE EXISTS (SELECT FROM claimed)
     ON CONFLICT (minute, series) DO NOTHING
   ), recent AS (
     INSERT INTO packhouse.history_recent (minute, subject, series, figures)
     SELECT $1::int4, s.subject, array_agg(s.id), array_agg((given.figures)[1])
     FROM jsonb_to_recordset($4::jsonb) AS given (series int4, figures float4[])
       JOIN packhouse.history_series AS s ON s.id = given.series
     WHERE s.subject IN ('network', 'node') AND EXISTS (SELECT FROM claimed)
     GROUP BY s.subject
     ON CONFLICT (subject, minute) DO NOTHING
   ), old AS (
     DELETE FROM packhouse.history_recent
     WHERE minute NOT BETWEEN $1::int4 - ${RECENT_MINUTES} AND $1::int4 + ${RECENT_MINUTES}
   )
   SELECT count(*)::int4 AS claimed FROM claimed`,
);

/** The largest number that float4 can hold is higher; figures beyond are unknown rather than an error of every sample. */
const MAX_FIGURE = 1e30;

/** Creates what one process at a time writes samples with; `most`: see MAX_SERIES. */
export async function createSampleWriter(
  connections: Connections,
  most?: Readonly<Record<HistorySubject, number>>,
) {
  const ids = await readSeriesIds(connections, most);
  const installation = (await ids.of('installation', ['all'])).get('all');
  return {
    /**
     * Writes a sample, unless its minute was sampled before. Returns how many series of each subject were summed with the
     * others, or null if the minute was sampled. Throws LEASE_LOST.
     */
    async write(sample: HistorySample, fence: Fence): Promise<ReadonlyMap<HistorySubject, number> | null> {
      const rows: { series: number; figures: Figures }[] = [];
      const summed = new Map<HistorySubject, number>();
      for (const [name, all] of Object.entries(sample.named)) {
        const subject = name as HistorySubject;
        const series = await ids.of(subject, [...all.keys()]);
        const left: Figures[] = [];
        for (const [each, figures] of all) {
          const id = each === OTHERS ? undefined : series.get(each);
          if (id === undefined) left.push(figures);
          else rows.push({ series: id, figures: figures.map(toFigure) });
        }
        summed.set(subject, left.length);
        if (left.length > 0) {
          rows.push({ series: await ids.others(subject), figures: sumFigures(subject, left).map(toFigure) });
        }
      }
      const values = [sample.minute, installation, sample.installation.map(toFigure), JSON.stringify(rows)];
      return connections.transaction(async (session) => {
        const row = await session.queryOne<{ claimed: number }>(insertSample, values);
        await session.query(requireLease, fenceValues(fence));
        return row?.claimed === 1 ? summed : null;
      });
    },
  };
}

/** The sum of each figure; null if none of them is known, or a sum says nothing. */
function sumFigures(subject: HistorySubject, all: readonly Figures[]): Figures {
  return HISTORY_FIGURES[subject].map((name, at) => {
    if (NOT_SUMMED.has(name)) return null;
    const known = all.flatMap((figures) => figures[at] ?? []);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
}

const toFigure = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) || Math.abs(value) > MAX_FIGURE ? null : value;
