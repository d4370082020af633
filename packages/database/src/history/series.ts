import { getOrAdd } from '@packhouse/runtime';
import { type Connections, statement } from '../connection/connections.js';
import { type HistorySubject, MAX_SERIES, MAX_SERIES_NAME } from './figures.js';

/** The name of the series in which all are summed that have none of their own. */
export const OTHERS = '';

const selectSeries = statement(
  'history/select-series',
  'SELECT id, subject, name FROM packhouse.history_series',
);

/** $1 subject, $2 names, $3 the most of the subject. */
const insertSeries = statement(
  'history/insert-series',
  `INSERT INTO packhouse.history_series (subject, name)
   SELECT $1, name FROM unnest($2::text[]) AS name
   LIMIT greatest(0, $3 - (SELECT count(*) FROM packhouse.history_series WHERE subject = $1 AND name <> ''))
   ON CONFLICT (subject, name) DO NOTHING
   RETURNING id, subject, name`,
);

/** $1 subject. */
const insertOthers = statement(
  'history/insert-others',
  `INSERT INTO packhouse.history_series (subject, name) VALUES ($1, '')
   ON CONFLICT (subject, name) DO UPDATE SET name = excluded.name RETURNING id`,
);

/** $1 subject, $2 how many, $3 names that stay: those without a sample in the last week, with their past. */
const deleteSilent = statement(
  'history/delete-silent',
  `WITH silent AS (
     DELETE FROM packhouse.history_series WHERE id IN (
       SELECT s.id FROM packhouse.history_series AS s
       WHERE s.subject = $1 AND s.name <> '' AND s.name <> ALL ($3::text[])
         AND NOT EXISTS (SELECT FROM packhouse.history_hour AS h WHERE h.series = s.id)
         AND s.id NOT IN (SELECT series FROM packhouse.history_minute)
       ORDER BY s.id LIMIT $2)
     RETURNING id
   ), days AS (DELETE FROM packhouse.history_day WHERE series IN (SELECT id FROM silent))
   SELECT id FROM silent`,
);

interface SeriesRow {
  id: number;
  subject: HistorySubject;
  name: string;
}

/** The ids of series, as the one process that samples knows them. */
interface SeriesIds {
  /**
   * The ids of these names, new ones included while there is room; the name of a subject that is not in it is to be
   * summed in `others`. Looks at Postgres only for names that it does not know.
   */
  of(subject: HistorySubject, names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  others(subject: HistorySubject): Promise<number>;
}

/** For how many looks a subject that is full is not asked for room again: an hour of samples. */
const FULL_LOOKS = 60;

/** Reads which series there are. One that was silent for a week gives way to a new one if the subject is full. */
export async function readSeriesIds(
  connections: Connections,
  most: Readonly<Record<HistorySubject, number>> = MAX_SERIES,
): Promise<SeriesIds> {
  const known = new Map<HistorySubject, Map<string, number>>();
  const ids = (subject: HistorySubject): Map<string, number> =>
    getOrAdd(known, subject, () => new Map<string, number>());
  for (const { id, subject, name } of await connections.query<SeriesRow>(selectSeries, [])) {
    ids(subject).set(name, id);
  }
  const full = new Map<HistorySubject, number>();

  const insert = async (subject: HistorySubject, names: readonly string[]): Promise<void> => {
    const rows = await connections.query<SeriesRow>(insertSeries, [subject, names, most[subject]]);
    for (const { id, name } of rows) ids(subject).set(name, id);
  };
  const lacking = (subject: HistorySubject, names: readonly string[]): string[] =>
    names.filter((name) => name !== OTHERS && name.length <= MAX_SERIES_NAME && !ids(subject).has(name));

  return {
    async of(subject, names) {
      const looks = full.get(subject) ?? 0;
      if (looks > 0) full.set(subject, looks - 1);
      else if (lacking(subject, names).length > 0) {
        await insert(subject, lacking(subject, names));
        const left = lacking(subject, names);
        if (left.length > 0) {
          const gone = await connections.query<{ id: number }>(deleteSilent, [subject, left.length, names]);
          const numbers = new Set(gone.map(({ id }) => id));
          for (const [name, id] of ids(subject)) if (numbers.has(id)) ids(subject).delete(name);
          if (gone.length > 0) await insert(subject, left);
          if (lacking(subject, names).length > 0) full.set(subject, FULL_LOOKS);
        }
      }
      return ids(subject);
    },
    async others(subject) {
      const there = ids(subject).get(OTHERS);
      if (there !== undefined) return there;
      const made = (await connections.queryOne<{ id: number }>(insertOthers, [subject]))!;
      ids(subject).set(OTHERS, made.id);
      return made.id;
    },
  };
}
