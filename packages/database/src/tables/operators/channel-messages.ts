import { type Connections, statement } from '../../connection/connections.js';
import { CHANNEL, CHANNELS, type Channel } from './channels.js';
import type { Condition } from './conditions.js';
import { ACCEPTED, createTries, RECEIVER_WORK, type ReceiverWork } from './receivers.js';

/** What a message says of a condition. */
interface Told {
  key: string;
  times: number;
  ended: boolean;
}

/** A message that was begun: it is repeated byte for byte until it is accepted. */
export interface PendingMessage {
  /** The same in each try. */
  id: string;
  body: string;
  /** Whether it is sent in quiet hours too. */
  urgent: boolean;
  told: Told[];
}

/** A channel with all that sending needs. */
export interface ChannelWork extends Channel, ReceiverWork<PendingMessage> {
  /** Encrypted; null: e-mail. */
  address: Buffer | null;
  /** Whether a message may be sent now. */
  due: boolean;
  /** Seconds for which it has accepted nothing; 0: the last message was accepted. */
  failingSeconds: number;
}

/** A condition that a channel was not told of, or not of its end. */
export interface UntoldCondition extends Condition {
  /** How often it began since the channel was told; 0: only its end is new. */
  begun: number;
}

/** Conditions of one message at most. */
const MAX_CONDITIONS = 1_000;
/** The beginning of a condition is sent to a channel at most once in this time. */
const AGAIN_AFTER = `interval '15 minutes'`;
const selectWork = statement(
  'channel-messages/select-work',
  `SELECT ${CHANNEL}, ${RECEIVER_WORK}, h.address,
     h.due_at <= clock_timestamp() AS due,
     coalesce(extract(epoch FROM clock_timestamp() - h.failing_since), 0)::float8 AS "failingSeconds"
   FROM ${CHANNELS} ORDER BY h.id`,
);

/** $1 channel, $2 the lowest severity now. The urgent first, then in the order in which they began. */
const selectUntold = statement(
  'channel-messages/select-untold',
  `SELECT c.key, c.name, c.network, c.severity, c.message, c.since, c.ended_at AS "endedAt", c.times,
     c.times - coalesce(t.times, 0) AS begun
   FROM ${CHANNELS}
   CROSS JOIN packhouse.condition AS c
   LEFT JOIN packhouse.notification_sent AS t ON t.channel_id = h.id AND t.key = c.key
   WHERE h.id = $1 AND (c.severity = 'critical' OR (h.severity = 'warning' AND $2::text = 'warning'))
     AND (h.networks = '{}' OR c.network = ANY (h.networks)) AND (h.names = '{}' OR c.name = ANY (h.names))
     AND CASE WHEN c.times > coalesce(t.times, 0) AND (c.ended_at IS NULL OR c.ended_at >= h.active_since)
       THEN t.key IS NULL OR t.begun_at < clock_timestamp() - ${AGAIN_AFTER}
       ELSE t.key IS NOT NULL AND NOT t.ended AND c.ended_at IS NOT NULL END
   ORDER BY c.severity, c.since, c.key LIMIT ${MAX_CONDITIONS}`,
);

/** $1 id, $2 message. If the process ends, it is repeated. */
const updatePending = statement(
  'channel-messages/update-pending',
  `UPDATE packhouse.notification_channel SET pending = $2::jsonb
   WHERE id = $1 AND state = 'active' AND pending IS NULL RETURNING id`,
);

/** $1 id, $2 id of the message, $3 milliseconds until the next one may be sent, $4 what was wrong all the same, or null. */
const updateAccepted = statement(
  'channel-messages/update-accepted',
  `WITH accepted AS (
     SELECT id, pending FROM packhouse.notification_channel WHERE id = $1 AND pending ->> 'id' = $2 FOR UPDATE
   ), told AS (
     INSERT INTO packhouse.notification_sent AS t (channel_id, key, times, ended, begun_at)
     SELECT a.id, said.key, said.times, said.ended, clock_timestamp()
     FROM accepted AS a
     CROSS JOIN LATERAL jsonb_to_recordset(a.pending -> 'told') AS said (key text, times int8, ended bool)
     JOIN packhouse.condition AS c ON c.key = said.key
     ON CONFLICT (channel_id, key) DO UPDATE SET times = excluded.times, ended = excluded.ended,
       begun_at = CASE WHEN excluded.times > t.times THEN excluded.begun_at ELSE t.begun_at END
   )
   UPDATE packhouse.notification_channel AS h SET ${ACCEPTED}, last_error = $4,
     due_at = clock_timestamp() + $3::int8 * interval '1 millisecond'
   FROM accepted WHERE h.id = accepted.id RETURNING h.id`,
);

/**
 * What the packer that sends notifications does with channels. Each change names the message that it is about, so that
 * of two processes which send the same message the later one changes nothing.
 */
export function createChannelMessages(connections: Connections) {
  return {
    ...createTries<Channel>(connections, {
      name: 'channel-messages',
      table: 'packhouse.notification_channel',
    }),
    /** All channels, by number. */
    work: () => connections.query<ChannelWork>(selectWork, []),
    /** What a channel is to be told, of this severity or above; 1,000 at most. */
    untold: (id: number, lowest: Condition['severity']) =>
      connections.query<UntoldCondition>(selectUntold, [id, lowest]),
    /** Begins a message; false if the channel is paused or removed, or has begun another one. */
    begin: async (id: number, message: PendingMessage) =>
      (await connections.query(updatePending, [id, JSON.stringify(message)])).length > 0,
    /**
     * Ends a message that was accepted, by some recipients at least; the next one may be sent after `pauseMs`. False if
     * it was ended already.
     */
    accept: async (
      id: number,
      message: Pick<PendingMessage, 'id'>,
      { pauseMs, error }: { pauseMs: number; error: string | null },
    ) => (await connections.query(updateAccepted, [id, message.id, pauseMs, error])).length > 0,
  };
}
