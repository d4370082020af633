import { type Connections, type Session, statement } from '../../connection/connections.js';

/** A change that an operator made. */
export interface Change {
  id: number;
  at: Date;
  /** The operator, as the command was told. */
  actor: string;
  /** Kind and name of what was changed: `backfill 7`. */
  subject: string;
  /** `add`, `set`, `pause`. */
  action: string;
  /** The subject before; null: it did not exist. */
  before: Readonly<Record<string, unknown>> | null;
  /** The subject after; null: it is gone. */
  after: Readonly<Record<string, unknown>> | null;
}

const DEFAULT_LIMIT = 100;

/** $1 actor, $2 subject, $3 action, $4 before, $5 after. Deletes what is older than a year. */
const insertChange = statement(
  'changes/insert-change',
  `WITH old AS (DELETE FROM packhouse.change WHERE at < clock_timestamp() - interval '1 year')
   INSERT INTO packhouse.change (actor, subject, action, before, after) VALUES ($1, $2, $3, $4, $5)`,
);

/** $1 subject or null for all, $2 limit, $3 id to begin below or null. */
const selectChanges = statement(
  'changes/select-changes',
  `SELECT id, at, actor, subject, action, before, after FROM packhouse.change
   WHERE ($1::text IS NULL OR subject = $1 OR starts_with(subject, $1 || ' ')) AND ($3::int8 IS NULL OR id < $3)
   ORDER BY id DESC LIMIT $2`,
);

/** $1 actor. */
const countNewKeys = statement(
  'changes/count-new-keys',
  `SELECT count(*) AS keys FROM packhouse.change
   WHERE actor = $1 AND action = 'create' AND starts_with(subject, 'key ')
     AND at > clock_timestamp() - interval '1 day'`,
);

/** A change to note. */
type NewChange = Omit<Change, 'id' | 'at' | 'before' | 'after'> & {
  before: object | null;
  after: object | null;
};

/** Adds a change, in the transaction that makes it. */
export async function noteChange(
  session: Pick<Session, 'query'>,
  { actor, subject, action, before, after }: NewChange,
): Promise<void> {
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  await session.query(insertChange, [actor, subject, action, json(before), json(after)]);
}

/**
 * Creates what changes a subject of one kind, by id or name, and notes it: `read` returns what is noted of it. The change
 * resolves to false, and notes nothing, if its statement returns no row.
 */
export function createNotedChange<K extends number | string>(
  connections: Pick<Connections, 'transaction'>,
  kind: string,
  read: (session: Session, key: K) => Promise<object | null>,
) {
  return (
    query: ReturnType<typeof statement>,
    values: readonly [K, ...unknown[]],
    { action, actor }: Pick<Change, 'action' | 'actor'>,
  ): Promise<boolean> =>
    connections.transaction(async (session) => {
      const [key] = values;
      const before = await read(session, key);
      if ((await session.query(query, values)).length === 0) return false;
      const after = await read(session, key);
      await noteChange(session, { actor, subject: `${kind} ${key}`, action, before, after });
      return true;
    });
}

/** What operators changed, kept for a year. */
export function createChanges(connections: Connections) {
  return {
    add: (change: NewChange) => noteChange(connections, change),
    /** The keys that somebody created within a day. */
    newKeys: async (actor: string) =>
      (await connections.queryOne<{ keys: number }>(countNewKeys, [actor]))?.keys ?? 0,
    /** The newest first, below this id; of one subject (`backfill 7`), of all of a kind (`backfill`), or all. */
    list: ({ subject, limit, before }: { subject?: string; limit?: number; before?: number } = {}) =>
      connections.query<Change>(selectChanges, [subject ?? null, limit ?? DEFAULT_LIMIT, before ?? null]),
  };
}
