import type { ChannelWork, Database, PendingMessage, Severity } from '@packhouse/database';
import { createOpeningHours } from '@packhouse/pipeline';
import { makeMessageId } from '../outbox/post-message.js';
import { toBody } from './compose.js';
import { createMessageSender, type MessageParts } from './send-message.js';

export interface NotifyParts extends MessageParts {
  database: Pick<Database, 'channelMessages'>;
  /** Of the page of alarms; undefined: unknown. */
  link: string | undefined;
}

/** A channel with nothing to say is looked at again after so many looks without a change: then a quarter of an hour may be over. */
const IDLE_LOOKS = 15;
/** From one message to a channel until the next, in milliseconds: what happens meanwhile is one message. */
const PAUSE_MS = 60_000;

/**
 * Creates what sends a channel its next message, if there is something to say and it is due.
 *
 * A message is stored before it is sent, and repeated byte for byte until it is accepted, so a receiver knows a
 * repetition by its id. In quiet hours only what is critical is said; the rest is said when they end.
 */
export function createChannelNotify(parts: NotifyParts) {
  const { context, link } = parts;
  const { clock, logger } = context;
  const { channelMessages } = parts.database;
  const send = createMessageSender(parts);
  const hours = createOpeningHours();
  /** Channels with nothing to say, and for how many looks. */
  const idle = new Map<number, { lowest: Severity; looks: number }>();

  const test = async (channel: ChannelWork, signal: AbortSignal): Promise<void> => {
    const contents = {
      type: 'test',
      channel: channel.id,
      at: new Date(clock.now()),
      conditions: [],
      link,
    } as const;
    const message = { id: makeMessageId(), body: toBody(channel.kind, contents) };
    const { accepted, error } = await send(channel, message, signal);
    await channelMessages.noteTest(channel.id, error ?? (accepted ? 'Accepted.' : 'Refused.'));
  };

  /** The message to send now; null: there is none. `changed`: conditions did since the last look. */
  const next = async (
    { id, kind, pending, quiet }: ChannelWork,
    changed: boolean,
  ): Promise<PendingMessage | null> => {
    const now = clock.now();
    const isQuiet = quiet.length > 0 && hours.at(quiet, now).open;
    if (pending !== null) return isQuiet && !pending.urgent ? null : pending;
    const lowest: Severity = isQuiet ? 'critical' : 'warning';
    const before = idle.get(id);
    if (!changed && before?.lowest === lowest && before.looks < IDLE_LOOKS) {
      before.looks += 1;
      return null;
    }
    idle.delete(id);
    const conditions = await channelMessages.untold(id, lowest);
    if (conditions.length === 0) {
      idle.set(id, { lowest, looks: 0 });
      return null;
    }
    const message = {
      id: makeMessageId(),
      body: toBody(kind, { type: 'notification', channel: id, at: new Date(now), conditions, link }),
      urgent: conditions.some(({ severity }) => severity === 'critical'),
      told: conditions.map(({ key, times, endedAt }) => ({ key, times, ended: endedAt !== null })),
    };
    return (await channelMessages.begin(id, message)) ? message : null;
  };

  return async (channel: ChannelWork, changed: boolean, signal: AbortSignal): Promise<void> => {
    const { id, kind } = channel;
    if (channel.testRequested) await test(channel, signal);
    if (channel.state !== 'active' || !channel.due) return void idle.delete(id);
    const message = await next(channel, changed);
    if (message === null) return;
    const { accepted, error } = await send(channel, message, signal);
    if (accepted) {
      if (error !== null) logger.warn({ channel: id, kind, error }, 'a notification did not reach everybody');
      await channelMessages.accept(id, message, { pauseMs: PAUSE_MS, error });
      return;
    }
    logger.warn({ channel: id, kind, error }, 'a notification was not accepted; it is sent again');
    await channelMessages.fail(id, message, { error: error ?? '' });
  };
}
