import { type Connections, type Session, statement } from '../connection/connections.js';
import type { Change, Changes } from '../contract/changes.js';

const DEFAULT_LIMIT = 100;

/** $1 who, $2 subject, $3 action, $4 before, $5 after. Deletes what is older than a year. */
const insertChange = statement(
  'changes/insert-change',
  `WITH old AS (DELETE FROM packhouse.change WHERE at < clock_timestamp() - interval '1 year')
   INSERT INTO packhouse.change (who, subject, action, before, after) VALUES ($1, $2, $3, $4, $5)`,
);

/** $1 subject or null for all, $2 limit, $3 id to begin below or null. */
const selectChanges = statement(
  'changes/select-changes',
  `SELECT id, at, who, subject, action, before, after FROM packhouse.change
   WHERE ($1::text IS NULL OR subject = $1 OR starts_with(subject, $1 || ' ')) AND ($3::int8 IS NULL OR id < $3)
   ORDER BY id DESC LIMIT $2`,
);

/** Adds a change, in the transaction that makes it. */
export async function noteChange(
  session: Pick<Session, 'query'>,
  { who, subject, action, before, after }: Omit<Change, 'id' | 'at'>,
): Promise<void> {
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  await session.query(insertChange, [who, subject, action, json(before), json(after)]);
}

/** What operators changed. */
export function createChanges(connections: Connections): Changes {
  return {
    add: (change) => noteChange(connections, change),
    list: ({ subject, limit, before } = {}) =>
      connections.query<Change>(selectChanges, [subject ?? null, limit ?? DEFAULT_LIMIT, before ?? null]),
  };
}
