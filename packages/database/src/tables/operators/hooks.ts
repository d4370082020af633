import type { Kind } from '@packhouse/chain';
import { type Connections, type Session, statement } from '../../connection/connections.js';
import { noteChange } from './changes.js';

/** A webhook: a receiver of the feed of a network, by address and filter. */
export interface Hook {
  id: number;
  network: string;
  /** Where deliveries are sent; its path may be a secret of the receiver. */
  url: string;
  kinds: Kind[];
  /** Whether only what is final is delivered. */
  finalOnly: boolean;
  /** Only blocks with a log of one of these accounts, `0x` hex in lower case; empty: all. */
  addresses: string[];
  /** Only blocks with a log whose first topic is one of these, `0x` hex in lower case; empty: all. */
  topics: string[];
  /** Quarantined: it accepted nothing for days, and is not tried until somebody resumes it. */
  state: 'active' | 'paused' | 'quarantined';
  /** The first block. */
  from: number;
  createdAt: Date;
  /** Deliveries that were accepted. */
  delivered: number;
  deliveredAt: Date | null;
  /** Since when no delivery was accepted; null: the last one was. */
  failingSince: Date | null;
  /** Tries since then. */
  failures: number;
  /** Why the last try failed; null: it did not. */
  lastError: string | null;
  /** When the next delivery is due; null: when the network changes. */
  dueAt: Date | null;
  /** The end of the last test, and how it ended. */
  testedAt: Date | null;
  testOutcome: string | null;
  /** Until when deliveries are signed with the secret before this one, too. */
  oldSecretUntil: Date | null;
}

/** What can be changed of a hook. */
export type HookTerms = Pick<Hook, 'url' | 'kinds' | 'addresses' | 'topics'>;

type NewHook = Pick<Hook, 'network' | 'url' | 'kinds' | 'finalOnly' | 'addresses' | 'topics' | 'from'> & {
  /** 32 random bytes: see packages/delivery/src/webhooks/secret.ts. */
  salt: Buffer;
};

/** A Hook, from hook h and network n. */
export const HOOK = `h.id, n.name AS network, h.url, h.kinds, h.final_only AS "finalOnly", h.addresses, h.topics, h.state,
  h.start_block AS "from", h.created_at AS "createdAt", h.delivered, h.delivered_at AS "deliveredAt",
  h.failing_since AS "failingSince", h.failures, h.last_error AS "lastError", h.due_at AS "dueAt",
  h.tested_at AS "testedAt", h.test_outcome AS "testOutcome",
  CASE WHEN h.old_salt_until > clock_timestamp() THEN h.old_salt_until END AS "oldSecretUntil"`;
export const HOOKS = 'packhouse.hook AS h JOIN packhouse.network AS n ON n.id = h.network_id';

/** $1 network, $2 url, $3 kinds, $4 final only, $5 addresses, $6 topics, $7 first block, $8 salt. */
const insertHook = statement(
  'hooks/insert-hook',
  `INSERT INTO packhouse.hook (network_id, url, kinds, final_only, addresses, topics, start_block, salt)
   SELECT n.id, $2, $3::text[], $4, $5::text[], $6::text[], $7::int8, $8 FROM packhouse.network AS n WHERE n.name = $1
   RETURNING id`,
);

/** $1 id. */
const selectHook = statement('hooks/select-hook', `SELECT ${HOOK} FROM ${HOOKS} WHERE h.id = $1`);

/** $1 network or null for all, $2 id to begin after, $3 limit. */
const selectHooks = statement(
  'hooks/select-hooks',
  `SELECT ${HOOK} FROM ${HOOKS} WHERE ($1::text IS NULL OR n.name = $1) AND h.id > $2::int8 ORDER BY h.id LIMIT $3`,
);

/** $1 id, $2 state. A hook that goes on is tried at once, as if it had never failed. */
const updateState = statement(
  'hooks/update-state',
  `UPDATE packhouse.hook SET state = $2, due_at = clock_timestamp(), failures = 0, failing_since = NULL
   WHERE id = $1 AND state <> $2 RETURNING id`,
);

/** $1 id. */
const lockHook = statement('hooks/lock-hook', `SELECT ${HOOK} FROM ${HOOKS} WHERE h.id = $1 FOR UPDATE OF h`);

/** $1 id, $2 url, $3 kinds, $4 addresses, $5 topics. Another address is tried at once, as if it had never failed. */
const updateHook = statement(
  'hooks/update-hook',
  `UPDATE packhouse.hook SET url = $2, kinds = $3::text[], addresses = $4::text[], topics = $5::text[],
     failures = CASE WHEN url = $2 THEN failures ELSE 0 END,
     failing_since = CASE WHEN url = $2 THEN failing_since END,
     last_error = CASE WHEN url = $2 THEN last_error END,
     due_at = CASE WHEN url = $2 THEN due_at ELSE clock_timestamp() END
   WHERE id = $1`,
);

/** $1 id, $2 salt, $3 milliseconds for which the old one signs too. */
const updateSalt = statement(
  'hooks/update-salt',
  `UPDATE packhouse.hook SET salt = $2, old_salt = salt,
     old_salt_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
   WHERE id = $1 RETURNING id`,
);

/** $1 id. */
const updateTest = statement(
  'hooks/update-test',
  'UPDATE packhouse.hook SET test_asked_at = clock_timestamp() WHERE id = $1 RETURNING id',
);

/** $1 id. */
const deleteHook = statement('hooks/delete-hook', 'DELETE FROM packhouse.hook WHERE id = $1 RETURNING id');

const countHooks = statement('hooks/count-hooks', 'SELECT count(*) AS hooks FROM packhouse.hook');

/**
 * Webhooks as operators see them. `actor` is noted in the history of changes, subject `hook <id>`; of the address only
 * the host, as its path may be a secret.
 */
export function createHooks(connections: Connections) {
  const find = (session: Pick<Session, 'queryOne'>, id: number) => session.queryOne<Hook>(selectHook, [id]);
  const change = (
    query: ReturnType<typeof statement>,
    values: readonly unknown[],
    { id, action, actor }: { id: number; action: string; actor: string },
  ): Promise<boolean> =>
    connections.transaction(async (session) => {
      const before = await find(session, id);
      if (before === null || (await session.query(query, values)).length === 0) return false;
      const after = await find(session, id);
      await noteChange(session, {
        actor,
        subject: `hook ${id}`,
        action,
        before: toNoted(before),
        after: toNoted(after),
      });
      return true;
    });
  return {
    /** Returns null if the network is unknown. */
    add: (hook: NewHook, actor: string): Promise<Hook | null> =>
      connections.transaction(async (session) => {
        const { network, url, kinds, finalOnly, addresses, topics, from, salt } = hook;
        const values = [network, url, kinds, finalOnly, addresses, topics, from, salt];
        const made = await session.queryOne<{ id: number }>(insertHook, values);
        if (made === null) return null;
        const row = await find(session, made.id);
        await noteChange(session, {
          actor,
          subject: `hook ${made.id}`,
          action: 'add',
          before: null,
          after: toNoted(row),
        });
        return row;
      }),
    find: (id: number) => find(connections, id),
    count: async () => (await connections.queryOne<{ hooks: number }>(countHooks, []))?.hooks ?? 0,
    /** By id, after this one. */
    list: ({
      network,
      after,
      limit,
    }: {
      network?: string | undefined;
      after?: number | undefined;
      limit: number;
    }) => connections.query<Hook>(selectHooks, [network ?? null, after ?? 0, limit]),
    /**
     * Changes the terms of a hook as `work` says, which may throw, under its lock; null: there is none. A delivery that was
     * begun stays as it is, and goes to the new address.
     */
    change: (id: number, work: (before: Hook) => HookTerms, actor: string): Promise<Hook | null> =>
      connections.transaction(async (session) => {
        const before = await session.queryOne<Hook>(lockHook, [id]);
        if (before === null) return null;
        const { url, kinds, addresses, topics } = work(before);
        await session.query(updateHook, [id, url, kinds, addresses, topics]);
        const after = await find(session, id);
        await noteChange(session, {
          actor,
          subject: `hook ${id}`,
          action: 'set',
          before: toNoted(before),
          after: { ...toNoted(after), ...(url === before.url ? {} : { address: 'changed' }) },
        });
        return after;
      }),
    /** Returns false if there is none, or it has that state. */
    setState: (id: number, state: 'active' | 'paused', actor: string) =>
      change(updateState, [id, state], { id, action: state === 'paused' ? 'pause' : 'resume', actor }),
    /** Replaces the secret; the old one signs too for `overlapMs`. Returns false if there is no such hook. */
    rotate: (id: number, { salt, overlapMs }: { salt: Buffer; overlapMs: number }, actor: string) =>
      change(updateSalt, [id, salt, overlapMs], { id, action: 'rotate', actor }),
    /** Asks for a test delivery; false if there is no such hook. */
    askTest: async (id: number) => (await connections.query(updateTest, [id])).length > 0,
    /** Returns false if there is none. A delivery that was begun may still arrive. */
    remove: (id: number, actor: string) => change(deleteHook, [id], { id, action: 'remove', actor }),
  };
}

function toNoted(hook: Hook | null): object | null {
  if (hook === null) return null;
  const { network, url, kinds, finalOnly, addresses, topics, state, from, oldSecretUntil } = hook;
  return {
    network,
    host: new URL(url).host,
    kinds,
    finalOnly,
    addresses,
    topics,
    state,
    from,
    oldSecretUntil,
  };
}
