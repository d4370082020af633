import { type Connections, statement } from '../../connection/connections.js';
import { HOOK, HOOKS, type Hook } from './hooks.js';
import { ACCEPTED, createTries, RECEIVER_WORK, type ReceiverWork } from './receivers.js';

/** The highest delivered blocks that are not final yet. */
export interface DeliveredBlocks {
  first: number;
  last: number;
}

/** Where a hook stands behind what it accepted. */
export interface HookPlace {
  /** Of the feed; null: it has not begun. */
  cursor: string | null;
  /** Null: all that it was told is final. */
  notFinal: DeliveredBlocks | null;
  /** Block and reason of the last delivered step `waiting`. */
  waiting: string | null;
}

/** A delivery that was begun: it is repeated byte for byte until it is accepted. */
export interface PendingDelivery extends HookPlace {
  /** The same in each try. */
  id: string;
  body: string;
}

/** A hook with all that a delivery needs. */
export interface HookWork extends Hook, HookPlace, ReceiverWork<PendingDelivery> {}

/** Hooks of one network. */
type HookCount = {
  network: string;
  state: Hook['state'];
  hooks: number;
  /** Seconds for which the one that fails longest has accepted nothing; 0: none fails. */
  failingSeconds: number;
  /** The first ids, ascending. */
  ids: number[];
};

/** $1 id. */
const selectWork = statement(
  'hook-deliveries/select-work',
  `SELECT ${HOOK}, ${RECEIVER_WORK}, h.cursor, h.waiting,
     CASE WHEN h.not_final_first IS NOT NULL THEN jsonb_build_object('first', h.not_final_first, 'last', h.not_final_last) END AS "notFinal"
   FROM ${HOOKS} WHERE h.id = $1`,
);

/**
 * $1 names of networks that changed, $2 limit. A hook whose `due_at` is null waits for its network. One that is due and
 * gets no job is due at the next look.
 */
const selectDue = statement(
  'hook-deliveries/select-due',
  `SELECT h.id, n.name AS network, h.due_at IS NULL AND h.test_requested_at IS NULL AS waited FROM ${HOOKS}
   WHERE h.test_requested_at IS NOT NULL OR (h.state = 'active'
     AND (h.due_at <= clock_timestamp() OR (h.due_at IS NULL AND n.name = ANY ($1::text[]))))
   ORDER BY h.due_at NULLS FIRST, h.id LIMIT $2`,
);

const PLACE = `cursor = $3, not_final_first = $4::int8, not_final_last = $5::int8, waiting = $6,
     due_at = CASE WHEN $7 THEN NULL ELSE clock_timestamp() END`;

/** $1 id, $2 cursor before, $3 cursor, $4 and $5 told blocks, $6 waiting, $7 whether it waits now. */
const updatePlace = statement(
  'hook-deliveries/update-place',
  `UPDATE packhouse.hook SET ${PLACE}
   WHERE id = $1 AND state = 'active' AND pending IS NULL AND cursor IS NOT DISTINCT FROM $2 RETURNING id`,
);

/** $1 id, $2 cursor before, $3 delivery. If the process ends, the hook is due again in a minute. */
const updatePending = statement(
  'hook-deliveries/update-pending',
  `UPDATE packhouse.hook SET pending = $3::jsonb, due_at = clock_timestamp() + interval '1 minute'
   WHERE id = $1 AND state = 'active' AND pending IS NULL AND cursor IS NOT DISTINCT FROM $2 RETURNING id`,
);

/** $1 id, $2 id of the delivery, $3 to $7 as above. */
const updateAccepted = statement(
  'hook-deliveries/update-accepted',
  `UPDATE packhouse.hook SET ${PLACE}, ${ACCEPTED}, last_error = NULL
   WHERE id = $1 AND pending ->> 'id' = $2 RETURNING id`,
);

/** $1 id, $2 reason. */
const updateQuarantined = statement(
  'hook-deliveries/update-quarantined',
  `UPDATE packhouse.hook SET state = 'quarantined', last_error = $2,
     failing_since = coalesce(failing_since, clock_timestamp()) WHERE id = $1 AND state = 'active' RETURNING id`,
);

const countHooks = statement(
  'hook-deliveries/count',
  `SELECT n.name AS network, h.state, count(*) AS hooks, (array_agg(h.id ORDER BY h.id))[1:20] AS ids,
     coalesce(extract(epoch FROM clock_timestamp() - min(h.failing_since)), 0)::float8 AS "failingSeconds"
   FROM ${HOOKS} GROUP BY n.name, h.state`,
);

/**
 * What the packers do with hooks. Every change names what it was made for, so that of two processes which deliver to one
 * hook the later one changes nothing.
 */
export function createHookDeliveries(connections: Connections) {
  const isChanged = async (
    query: ReturnType<typeof statement>,
    values: readonly unknown[],
  ): Promise<boolean> => (await connections.query(query, values)).length > 0;
  const toValues = ({ cursor, notFinal, waiting }: HookPlace, waits: boolean): unknown[] => [
    cursor,
    notFinal?.first ?? null,
    notFinal?.last ?? null,
    waiting,
    waits,
  ];
  return {
    ...createTries<Hook>(connections, { name: 'hook-deliveries', table: 'packhouse.hook' }),
    /** Null: it was removed. */
    work: (id: number) => connections.queryOne<HookWork>(selectWork, [id]),
    /** The hooks that are due, and those that waited for one of these networks; `limit` at most. */
    due: (networks: readonly string[], limit: number) =>
      connections.query<{ id: number; network: string; waited: boolean }>(selectDue, [networks, limit]),
    /** Moves on without a delivery; false if the hook stands elsewhere by now, is paused or removed. */
    move: ({ id, cursor }: Pick<HookWork, 'id' | 'cursor'>, place: HookPlace, waits: boolean) =>
      isChanged(updatePlace, [id, cursor, ...toValues(place, waits)]),
    /** Begins a delivery; false as `move`. */
    begin: ({ id, cursor }: Pick<HookWork, 'id' | 'cursor'>, pending: PendingDelivery) =>
      isChanged(updatePending, [id, cursor, JSON.stringify(pending)]),
    /**
     * Ends a delivery that was accepted; `waits`: nothing more is there behind it. False if it was ended already, or the
     * hook was removed.
     */
    accept: (id: number, pending: PendingDelivery, waits: boolean) =>
      isChanged(updateAccepted, [id, pending.id, ...toValues(pending, waits)]),
    /** Quarantines a hook whose feed cannot go on. */
    quarantine: (id: number, reason: string) => isChanged(updateQuarantined, [id, reason]),
    /** By network and state. */
    counts: () => connections.query<HookCount>(countHooks, []),
  };
}
