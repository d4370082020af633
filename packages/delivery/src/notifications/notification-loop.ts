import { type ChannelWork, type Database, withLock } from '@packhouse/database';
import type { LeaseStore } from '@packhouse/node-rpc';
import { type Context, repeat } from '@packhouse/runtime';
import { keepAlarm } from '../outbox/keep-alarm.js';
import { findConditions } from './find-conditions.js';
import { createChannelNotify, type NotifyParts } from './notify-channel.js';

interface LoopParts extends Omit<NotifyParts, 'database'> {
  database: Database;
  /** Where processes share the use of budgets. */
  leases: LeaseStore;
}

/** How often it is looked for something to say, in milliseconds. */
const LOOK_EVERY_MS = 2_000;
/** How often what ended long ago is forgotten, in milliseconds. */
const SWEEP_EVERY_MS = 3_600_000;
/** A channel that accepts nothing for so long raises the alarm, in seconds. */
const FAILING_S = 900;

/** Sends notifications until the context is aborted; one packer at a time does. */
export function notificationLoop(parts: LoopParts): Promise<void> {
  const { context, database } = parts;
  const failed = 'notifications were not looked after';
  return repeat(context, { everyMs: LOOK_EVERY_MS, failed }, () =>
    withLock(database, 'notifications', context.signal, async (signal) => {
      const loop = createLoop(parts, signal);
      try {
        while (!signal.aborted) {
          await loop.look();
          await context.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
        }
      } finally {
        await loop.end();
      }
    }),
  );
}

function createLoop(parts: LoopParts, signal: AbortSignal) {
  const { context, database } = parts;
  const notify = createChannelNotify(parts);
  const gauges = createGauges(context);
  const { clock } = context;
  let sweepAt = clock.elapsed();
  /** Channels that are being sent to: one that hangs holds up no other. */
  const busy = new Map<number, Promise<void>>();

  const start = (channel: ChannelWork, changed: boolean): void => {
    const { id } = channel;
    if (busy.has(id)) return;
    const running = notify(channel, changed, signal)
      .catch((error: unknown) => {
        if (!signal.aborted)
          context.logger.warn({ channel: id, err: error }, 'a channel was not looked after');
      })
      .finally(() => busy.delete(id));
    busy.set(id, running);
  };

  return {
    async look(): Promise<void> {
      const before = await database.channelMessages.work();
      gauges.show(before);
      await keepFailing(database, before);
      if (before.length === 0) return;
      const changed = await findConditions(parts);
      // As they are behind what was found: one that was resumed meanwhile is told of what is open.
      for (const channel of await database.channelMessages.work()) start(channel, changed);
      if (clock.elapsed() < sweepAt) return;
      sweepAt = clock.elapsed() + SWEEP_EVERY_MS;
      await database.conditions.sweep();
    },
    async end(): Promise<void> {
      await Promise.all(busy.values());
      gauges.reset();
    },
  };
}

/** Keeps the alarm in the networks of channels that accept nothing; one without networks of its own is of all. */
async function keepFailing(database: Database, channels: readonly ChannelWork[]): Promise<void> {
  const failing = channels.filter(
    ({ state, failingSeconds }) => state === 'active' && failingSeconds >= FAILING_S,
  );
  const wanted = new Map<string, { message: string; data: { channels: number[] } }>();
  const networks = failing.length === 0 ? [] : await database.networks.list();
  for (const { id: network } of networks) {
    const own = failing.filter(({ networks: of }) => of.length === 0 || of.includes(network));
    if (own.length === 0) continue;
    const listed = own.map(({ id, kind, lastError }) => `${id} (${kind}): ${lastError ?? ''}`).slice(0, 20);
    wanted.set(network, {
      message: `Channels of notifications have accepted nothing for over ${FAILING_S / 60} minutes: ${listed.join(' ')} See \`packhouse notifications list\`.`,
      data: { channels: own.map(({ id }) => id) },
    });
  }
  await keepAlarm(database, 'NOTIFICATIONS_FAILING', wanted);
}

function createGauges({ metrics }: Context) {
  const channels = metrics.gauge('packhouse_notification_channels', 'Channels of notifications by state', [
    'kind',
    'state',
  ]);
  const failing = metrics.gauge(
    'packhouse_notification_failing_seconds',
    'For how long a channel of notifications has accepted nothing',
    ['channel', 'kind'],
  );
  const reset = (): void => {
    channels.reset();
    failing.reset();
  };
  return {
    reset,
    show(rows: readonly ChannelWork[]): void {
      reset();
      for (const { id, kind, state, failingSeconds } of rows) {
        channels.inc({ kind, state });
        if (state === 'active') failing.set({ channel: String(id), kind }, failingSeconds);
      }
    },
  };
}
