import { type Connections, type Session, statement } from '../../connection/connections.js';
import { createNotedChange, noteChange } from './changes.js';

/** Who is sent messages, one after the other: a webhook, or a channel of notifications. */
export interface Receiver {
  id: number;
  createdAt: Date;
  /** Messages that were accepted. */
  delivered: number;
  deliveredAt: Date | null;
  /** Since when nothing was accepted; null: the last message was. */
  failingSince: Date | null;
  /** Tries since then. */
  failures: number;
  /** Why the last try failed; null: it did not. */
  lastError: string | null;
  /** The end of the last test, and how it ended. */
  testedAt: Date | null;
  testOutcome: string | null;
  /** Until when messages are signed with the secret before this one, too. */
  oldSecretUntil: Date | null;
}

/** What sending to a receiver needs beside what operators see. */
export interface ReceiverWork<Message> {
  salt: Buffer;
  /** The one before, while it still signs. */
  oldSalt: Buffer | null;
  /** The message that was begun: it is repeated byte for byte until it is accepted. */
  pending: Message | null;
  /** Whether an operator asks for a test. */
  testRequested: boolean;
}

/** A Receiver but for its id, and when it is due, from its table h. */
export const RECEIVER = `h.created_at AS "createdAt", h.delivered, h.delivered_at AS "deliveredAt",
  h.failing_since AS "failingSince", h.failures, h.last_error AS "lastError", h.due_at AS "dueAt",
  h.tested_at AS "testedAt", h.test_outcome AS "testOutcome",
  CASE WHEN h.old_salt_until > clock_timestamp() THEN h.old_salt_until END AS "oldSecretUntil"`;

/** A ReceiverWork, from its table h. */
export const RECEIVER_WORK = `h.salt, h.pending, h.test_requested_at IS NOT NULL AS "testRequested",
  CASE WHEN h.old_salt_until > clock_timestamp() THEN h.old_salt END AS "oldSalt"`;

/** Sets that its message was accepted. */
export const ACCEPTED = `pending = NULL, delivered = delivered + 1, delivered_at = clock_timestamp(),
     failing_since = NULL, failures = 0`;

/** Milliseconds until a receiver is tried again after its nth failure: doubled each time, up to an hour. */
const PAUSE_MS = 'least(3600000, 5000 * 2 ^ least(h.failures, 10))';

/** Sets, if the SQL condition `moves` holds, that it is tried at once, as if it had never failed. */
export const toRestart = (moves: string): string => `failures = CASE WHEN ${moves} THEN 0 ELSE failures END,
     failing_since = CASE WHEN NOT ${moves} THEN failing_since END,
     last_error = CASE WHEN NOT ${moves} THEN last_error END,
     due_at = CASE WHEN ${moves} THEN clock_timestamp() ELSE due_at END`;

/** How the receivers of a table are read and noted. */
interface ReceiverTable<R> {
  /** Names its statements. */
  name: string;
  /** Names one in the history of changes: `hook` as in `hook 7`. */
  subject: string;
  table: string;
  /** Columns and tables of an R; its own table is h. */
  columns: string;
  from: string;
  /** What is set, too, when one goes on or pauses; $2 is its state. */
  onState?: string;
  toNoted(row: R): object;
}

/** Receivers of one table as operators see them. `actor` is noted in the history of changes. */
export function createReceivers<R extends Receiver>(
  connections: Connections,
  { name, subject, table, columns, from, onState = '', toNoted }: ReceiverTable<R>,
) {
  /** $1 id. */
  const selectOne = statement(`${name}/select-one`, `SELECT ${columns} FROM ${from} WHERE h.id = $1`);
  /** $1 id. */
  const lockOne = statement(`${name}/lock-one`, `${selectOne.text} FOR UPDATE OF h`);
  const countAll = statement(`${name}/count`, `SELECT count(*) AS count FROM ${table}`);
  /** $1 id, $2 state. One that goes on is tried at once, as if it had never failed. */
  const updateState = statement(
    `${name}/update-state`,
    `UPDATE ${table} SET state = $2, due_at = clock_timestamp(), failures = 0, failing_since = NULL${onState}
     WHERE id = $1 AND state <> $2 RETURNING id`,
  );
  /** $1 id, $2 salt, $3 milliseconds for which the old one signs too. */
  const updateSalt = statement(
    `${name}/update-salt`,
    `UPDATE ${table} SET salt = $2, old_salt = salt,
       old_salt_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
     WHERE id = $1 RETURNING id`,
  );
  /** $1 id. */
  const updateTest = statement(
    `${name}/update-test`,
    `UPDATE ${table} SET test_requested_at = clock_timestamp() WHERE id = $1 RETURNING id`,
  );
  /** $1 id. */
  const deleteOne = statement(`${name}/delete`, `DELETE FROM ${table} WHERE id = $1 RETURNING id`);

  const find = (session: Pick<Session, 'queryOne'>, id: number) => session.queryOne<R>(selectOne, [id]);
  const change = createNotedChange(connections, subject, async (session, id: number) => {
    const row = await find(session, id);
    return row && toNoted(row);
  });
  return {
    find: (id: number) => find(connections, id),
    count: async () => (await connections.queryOne<{ count: number }>(countAll, []))?.count ?? 0,
    /** Runs a statement that inserts one and returns its id; null if it returns none. */
    insert: (query: ReturnType<typeof statement>, values: readonly unknown[], actor: string) =>
      connections.transaction(async (session): Promise<R | null> => {
        const made = await session.queryOne<{ id: number }>(query, values);
        const row = made && (await find(session, made.id));
        if (row === null) return null;
        const noted = { action: 'add', before: null, after: toNoted(row) };
        await noteChange(session, { actor, subject: `${subject} ${row.id}`, ...noted });
        return row;
      }),
    /**
     * Changes the terms of one under its lock; null: there is none. `work` returns the values of `query` behind the id, and
     * whether its address changes, and may throw. A message that was begun stays as it is, and goes to the new address.
     */
    update: (
      id: number,
      query: ReturnType<typeof statement>,
      work: (before: R) => { values: readonly unknown[]; newAddress: boolean },
      actor: string,
    ): Promise<R | null> =>
      connections.transaction(async (session) => {
        const before = await session.queryOne<R>(lockOne, [id]);
        if (before === null) return null;
        const { values, newAddress } = work(before);
        await session.query(query, [id, ...values]);
        const row = (await find(session, id)) as R;
        const after = { ...toNoted(row), ...(newAddress && { address: 'changed' }) };
        const noted = { action: 'set', before: toNoted(before), after };
        await noteChange(session, { actor, subject: `${subject} ${id}`, ...noted });
        return row;
      }),
    /** Returns false if there is none, or it has that state. */
    setState: (id: number, state: 'active' | 'paused', actor: string) =>
      change(updateState, [id, state], { action: state === 'paused' ? 'pause' : 'resume', actor }),
    /** Replaces the secret; the old one signs too for `overlapMs`. Returns false if there is none. */
    rotate: (id: number, { salt, overlapMs }: { salt: Buffer; overlapMs: number }, actor: string) =>
      change(updateSalt, [id, salt, overlapMs], { action: 'rotate', actor }),
    /** Asks for a test message; false if there is none. */
    askTest: async (id: number) => (await connections.query(updateTest, [id])).length > 0,
    /** Returns false if there is none. A message that was begun may still arrive. */
    remove: (id: number, actor: string) => change(deleteOne, [id], { action: 'remove', actor }),
  };
}

/** How tries of messages to receivers of one table end. Each change names its message: of two that end it, one does. */
export function createTries<R extends Receiver & { state: string }>(
  connections: Connections,
  { name, table }: Pick<ReceiverTable<R>, 'name' | 'table'>,
) {
  /** $1 id, $2 id of the message, $3 error, $4 whether no other try helps, $5 days until quarantine or null: never. */
  const updateFailed = statement(
    `${name}/update-failed`,
    `UPDATE ${table} AS h SET failures = h.failures + 1, last_error = $3,
       failing_since = coalesce(h.failing_since, clock_timestamp()),
       due_at = clock_timestamp() + ${PAUSE_MS} * interval '1 millisecond',
       state = CASE WHEN $4 OR h.failing_since < clock_timestamp() - $5::float8 * interval '1 day' THEN 'quarantined'
         ELSE h.state END
     WHERE h.id = $1 AND h.state = 'active' AND h.pending ->> 'id' = $2 RETURNING h.state, h.failures`,
  );
  /** $1 id, $2 outcome. */
  const updateTested = statement(
    `${name}/update-tested`,
    `UPDATE ${table} SET test_requested_at = NULL, tested_at = clock_timestamp(), test_outcome = $2 WHERE id = $1`,
  );
  return {
    /**
     * Notes a try that failed. Quarantines the receiver if `final`, or if it has failed for that many days. Null: it is
     * paused, quarantined or removed, or the message was ended.
     */
    fail: (
      id: number,
      message: { id: string },
      {
        error,
        final = false,
        quarantineDays = null,
      }: { error: string; final?: boolean; quarantineDays?: number | null },
    ) =>
      connections.queryOne<Pick<R, 'state' | 'failures'>>(updateFailed, [
        id,
        message.id,
        error,
        final,
        quarantineDays,
      ]),
    noteTest: async (id: number, outcome: string) =>
      void (await connections.query(updateTested, [id, outcome])),
  };
}
