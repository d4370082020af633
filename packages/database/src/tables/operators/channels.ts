import { isDeepStrictEqual } from 'node:util';
import { type Connections, statement } from '../../connection/connections.js';
import type { Severity } from './conditions.js';
import { createReceivers, RECEIVER, type Receiver, toRestart } from './receivers.js';

export type ChannelKind = 'webhook' | 'slack' | 'email';

/** Where notifications are sent, as operators see it: never the address, which is a secret. */
export interface Channel extends Receiver {
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
  /** When the next message may be sent. */
  dueAt: Date;
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
  ${RECEIVER}`;
export const CHANNELS = 'packhouse.notification_channel AS h';

/** $1 kind, $2 host, $3 address, $4 recipients, $5 salt, $6 networks, $7 names, $8 severity, $9 quiet. */
const insertChannel = statement(
  'channels/insert-channel',
  `INSERT INTO packhouse.notification_channel
     (kind, host, address, recipients, salt, networks, names, severity, quiet)
   VALUES ($1, $2, $3, $4::text[], $5, $6::text[], $7::text[], $8, $9::text[]) RETURNING id`,
);

const selectChannels = statement(
  'channels/select-channels',
  `SELECT ${CHANNEL} FROM ${CHANNELS} ORDER BY h.id`,
);

/**
 * $1 id, $2 host, $3 address or null: it stays, $4 recipients, $5 networks, $6 names, $7 severity, $8 quiet, $9 whether it
 * goes elsewhere: then it is tried at once, as if it had never failed.
 */
const updateChannel = statement(
  'channels/update-channel',
  `UPDATE packhouse.notification_channel SET host = $2, address = coalesce($3, address), recipients = $4::text[],
     networks = $5::text[], names = $6::text[], severity = $7, quiet = $8::text[],
     ${toRestart('$9')}
   WHERE id = $1`,
);

/** Channels of notifications as operators see them. `actor` is noted in the history, subject `notification <id>`. */
export function createChannels(connections: Connections) {
  const { insert, update, ...receivers } = createReceivers<Channel>(connections, {
    name: 'channels',
    subject: 'notification',
    table: 'packhouse.notification_channel',
    columns: CHANNEL,
    from: CHANNELS,
    onState: `, active_since = CASE WHEN $2 = 'active' THEN clock_timestamp() ELSE active_since END`,
    toNoted: ({ kind, state, host, recipients, networks, names, severity, quiet, oldSecretUntil }) => {
      return { kind, state, host, recipients, networks, names, severity, quiet, oldSecretUntil };
    },
  });
  return {
    ...receivers,
    add: async (channel: NewChannel, actor: string) => {
      const { kind, host, address, recipients, salt, networks, names, severity, quiet } = channel;
      const values = [kind, host, address, recipients, salt, networks, names, severity, quiet];
      return (await insert(insertChannel, values, actor)) as Channel;
    },
    list: () => connections.query<Channel>(selectChannels, []),
    /** See `update` of createReceivers. */
    change: (id: number, work: (before: Channel) => ChannelTerms, actor: string) => {
      const toUpdate = (before: Channel) => {
        const { host, address, recipients, networks, names, severity, quiet } = work(before);
        const newAddress = address !== undefined;
        const moves = newAddress || !isDeepStrictEqual(recipients, before.recipients);
        const values = [host, address ?? null, recipients, networks, names, severity, quiet, moves];
        return { values, newAddress };
      };
      return update(id, updateChannel, toUpdate, actor);
    },
  };
}
