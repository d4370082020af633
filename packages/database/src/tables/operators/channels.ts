import { isDeepStrictEqual } from 'node:util';
import { type Connections, type Session, statement } from '../../connection/connections.js';
import { noteChange } from './changes.js';
import type { Severity } from './conditions.js';

export type ChannelKind = 'webhook' | 'slack' | 'email';

/** Where notifications are sent, as operators see it: never the address, which is a secret. */
export interface Channel {
  id: number;
  kind: ChannelKind;
  state: 'active' | 'paused';
  /** Of the address; of e-mail empty. */
  host: string;
  /** Of e-mail. */
  recipients: string[];
  /** Only conditions of these; empty: all, and those of the installation. */
  networks: string[];
  /** Only conditions of these names; empty: all. */
  names: string[];
  /** The lowest that is sent. */
  severity: Severity;
  /** Windows of the week in which only what is critical is sent. */
  quiet: string[];
  createdAt: Date;
  /** Messages that were accepted. */
  delivered: number;
  deliveredAt: Date | null;
  /** Since when nothing was accepted; null: the last message was. */
  failingSince: Date | null;
  failures: number;
  lastError: string | null;
  /** When the next message may be sent. */
  dueAt: Date;
  testedAt: Date | null;
  testOutcome: string | null;
  /** Until when messages to a webhook are signed with the secret before this one, too. */
  oldSecretUntil: Date | null;
}

/** What can be changed of a channel. */
type ChannelTerms = Pick<Channel, 'host' | 'recipients' | 'networks' | 'names' | 'severity' | 'quiet'> & {
  /** Encrypted; undefined: it stays. */
  address?: Buffer | undefined;
};

type NewChannel = Pick<
  Channel,
  'kind' | 'host' | 'recipients' | 'networks' | 'names' | 'severity' | 'quiet'
> & {
  /** Encrypted: see packages/delivery/src/notifications/send-message.ts; null: e-mail. */
  address: Buffer | null;
  /** 32 random bytes. */
  salt: Buffer;
};

/** A Channel, from notification_channel h. */
export const CHANNEL = `h.id, h.kind, h.state, h.host, h.recipients, h.networks, h.names, h.severity, h.quiet,
  h.created_at AS "createdAt", h.delivered, h.delivered_at AS "deliveredAt", h.failing_since AS "failingSince",
  h.failures, h.last_error AS "lastError", h.due_at AS "dueAt", h.tested_at AS "testedAt",
  h.test_outcome AS "testOutcome",
  CASE WHEN h.old_salt_until > clock_timestamp() THEN h.old_salt_until END AS "oldSecretUntil"`;

/** $1 kind, $2 host, $3 address, $4 recipients, $5 salt, $6 networks, $7 names, $8 severity, $9 quiet. */
const insertChannel = statement(
  'channels/insert-channel',
  `INSERT INTO packhouse.notification_channel
     (kind, host, address, recipients, salt, networks, names, severity, quiet)
   VALUES ($1, $2, $3, $4::text[], $5, $6::text[], $7::text[], $8, $9::text[]) RETURNING id`,
);

/** $1 id. */
const selectChannel = statement(
  'channels/select-channel',
  `SELECT ${CHANNEL} FROM packhouse.notification_channel AS h WHERE h.id = $1`,
);

const selectChannels = statement(
  'channels/select-channels',
  `SELECT ${CHANNEL} FROM packhouse.notification_channel AS h ORDER BY h.id`,
);

/** $1 id, $2 state. One that goes on is tried at once, as if it had never failed. */
const updateState = statement(
  'channels/update-state',
  `UPDATE packhouse.notification_channel SET state = $2, failures = 0, failing_since = NULL,
     due_at = clock_timestamp(), active_since = CASE WHEN $2 = 'active' THEN clock_timestamp() ELSE active_since END
   WHERE id = $1 AND state <> $2 RETURNING id`,
);

/** $1 id. */
const lockChannel = statement(
  'channels/lock-channel',
  `SELECT ${CHANNEL} FROM packhouse.notification_channel AS h WHERE h.id = $1 FOR UPDATE`,
);

/**
 * $1 id, $2 host, $3 address or null: it stays, $4 recipients, $5 networks, $6 names, $7 severity, $8 quiet, $9 whether it
 * goes elsewhere: then it is tried at once, as if it had never failed.
 */
const updateChannel = statement(
  'channels/update-channel',
  `UPDATE packhouse.notification_channel SET host = $2, address = coalesce($3, address), recipients = $4::text[],
     networks = $5::text[], names = $6::text[], severity = $7, quiet = $8::text[],
     failures = CASE WHEN $9 THEN 0 ELSE failures END, failing_since = CASE WHEN NOT $9 THEN failing_since END,
     last_error = CASE WHEN NOT $9 THEN last_error END, due_at = CASE WHEN $9 THEN clock_timestamp() ELSE due_at END
   WHERE id = $1`,
);

/** $1 id, $2 salt, $3 milliseconds for which the old one signs too. */
const updateSalt = statement(
  'channels/update-salt',
  `UPDATE packhouse.notification_channel SET salt = $2, old_salt = salt,
     old_salt_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
   WHERE id = $1 AND kind = 'webhook' RETURNING id`,
);

/** $1 id. */
const updateTest = statement(
  'channels/update-test',
  'UPDATE packhouse.notification_channel SET test_asked_at = clock_timestamp() WHERE id = $1 RETURNING id',
);

/** $1 id. */
const deleteChannel = statement(
  'channels/delete-channel',
  'DELETE FROM packhouse.notification_channel WHERE id = $1 RETURNING id',
);

const countChannels = statement(
  'channels/count-channels',
  'SELECT count(*) AS channels FROM packhouse.notification_channel',
);

/** Channels of notifications as operators see them. `actor` is noted in the history, subject `notification <id>`. */
export function createChannels(connections: Connections) {
  const find = (session: Pick<Session, 'queryOne'>, id: number) =>
    session.queryOne<Channel>(selectChannel, [id]);
  const change = (
    query: ReturnType<typeof statement>,
    values: readonly unknown[],
    { id, action, actor }: { id: number; action: string; actor: string },
  ): Promise<boolean> =>
    connections.transaction(async (session) => {
      const before = toNoted(await find(session, id));
      if (before === null || (await session.query(query, values)).length === 0) return false;
      const after = toNoted(await find(session, id));
      await noteChange(session, { actor, subject: `notification ${id}`, action, before, after });
      return true;
    });
  return {
    add: (channel: NewChannel, actor: string): Promise<Channel> =>
      connections.transaction(async (session) => {
        const { kind, host, address, recipients, salt, networks, names, severity, quiet } = channel;
        const values = [kind, host, address, recipients, salt, networks, names, severity, quiet];
        const made = (await session.queryOne<{ id: number }>(insertChannel, values)) as { id: number };
        const row = (await find(session, made.id)) as Channel;
        const subject = `notification ${made.id}`;
        await noteChange(session, { actor, subject, action: 'add', before: null, after: toNoted(row) });
        return row;
      }),
    find: (id: number) => find(connections, id),
    count: async () => (await connections.queryOne<{ channels: number }>(countChannels, []))?.channels ?? 0,
    list: () => connections.query<Channel>(selectChannels, []),
    /** Returns false if there is none, or it has that state. */
    setState: (id: number, state: Channel['state'], actor: string) =>
      change(updateState, [id, state], { id, action: state === 'paused' ? 'pause' : 'resume', actor }),
    /**
     * Changes the terms of a channel as `work` says, which may throw, under its lock; null: there is none. A message that
     * was begun stays as it is, and goes to the new address.
     */
    change: (id: number, work: (before: Channel) => ChannelTerms, actor: string): Promise<Channel | null> =>
      connections.transaction(async (session) => {
        const before = await session.queryOne<Channel>(lockChannel, [id]);
        if (before === null) return null;
        const { host, address, recipients, networks, names, severity, quiet } = work(before);
        const moves = address !== undefined || !isDeepStrictEqual(recipients, before.recipients);
        const values = [id, host, address ?? null, recipients, networks, names, severity, quiet, moves];
        await session.query(updateChannel, values);
        const after = await find(session, id);
        await noteChange(session, {
          actor,
          subject: `notification ${id}`,
          action: 'set',
          before: toNoted(before),
          after: { ...toNoted(after), ...(address === undefined ? {} : { address: 'changed' }) },
        });
        return after;
      }),
    /** Replaces the secret of a webhook; the old one signs too for `overlapMs`. Returns false if there is no such one. */
    rotate: (id: number, { salt, overlapMs }: { salt: Buffer; overlapMs: number }, actor: string) =>
      change(updateSalt, [id, salt, overlapMs], { id, action: 'rotate', actor }),
    /** Asks for a test message; false if there is no such channel. */
    askTest: async (id: number) => (await connections.query(updateTest, [id])).length > 0,
    /** Returns false if there is none. A message that was begun may still arrive. */
    remove: (id: number, actor: string) => change(deleteChannel, [id], { id, action: 'remove', actor }),
  };
}

function toNoted(channel: Channel | null): object | null {
  if (channel === null) return null;
  const { kind, state, host, recipients, networks, names, severity, quiet, oldSecretUntil } = channel;
  return { kind, state, host, recipients, networks, names, severity, quiet, oldSecretUntil };
}
