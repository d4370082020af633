import { randomUUID } from 'node:crypto';
import type { Clock } from '@packhouse/runtime';
import { ANNOUNCED_MS, createPresence } from './presence.js';

/** What clients ask for the newest block by. */
type TipTag = 'latest' | 'safe' | 'finalized';

/**
 * The newest block numbers that any gateway told, in a store. A number counts for `holdMs` after it was raised last, so
 * that a reset of the chain lowers it for all gateways alike.
 */
export interface SharedTips {
  /** Returns the number that counts afterwards: this one, or a higher one. */
  raise(network: string, tag: TipTag, number: number, holdMs: number): Promise<number>;
  /** `gateways`: the ids of those that announced themselves and are there. */
  read(network: string): Promise<Partial<Record<TipTag, number>> & { gateways?: readonly string[] }>;
  /** Notes that a gateway is there for so long. Without it no gateway knows whether it is the only one. */
  announce?(network: string, id: string, forMs: number): Promise<void>;
}

/** The newest block numbers that clients of a network were told. */
export interface Told {
  /** The number that counts, as far as this process knows; null: none. */
  known(tag: TipTag): number | null;
  /** Waits until this gateway may answer, as far as the others are concerned; undefined: at once. Never rejects. */
  ready(): Promise<void> | undefined;
  /** Learns what other gateways told until now. Undefined: there are none, or nobody else is there. Never rejects. */
  refresh(): Promise<void> | undefined;
  /**
   * Notes that an upstream has this block. Before a client is told a number, this must have resolved. Never rejects; while
   * the store is away, the process goes on alone.
   */
  raise(tag: TipTag, number: number): Promise<void> | undefined;
  /** Says that this gateway is not there any more. Never rejects. */
  leave(): Promise<void>;
}

/**
 * A number that no upstream of any gateway confirmed for this long does not count: a reset of the chain. What is final
 * is not asked for as often.
 */
const HOLD_MS = { latest: 30_000, safe: 300_000, finalized: 300_000 } as const;
/** How often a number that stays the same is raised again. */
const RENEW_MS = 10_000;
/** The process does not wait for a store that failed this recently. */
const ALONE_MS = 1_000;
/** Longest wait for the store. */
const STORE_MS = 500;
/** So that a number that expired in the store is not written again from here. */
const MARGIN_MS = 1_000;

/**
 * Creates the numbers of one network; nothing is told yet. `network` is its name in the store.
 *
 * Whoever tells a number has raised it in the store before, and whoever asks for one reads the store after the question
 * came: so no answer is below an earlier one, of whichever gateway. Questions that come while a read is under way share
 * the next one, so there is one read at a time, however many ask. Who knows that no other gateway is there does without.
 */
export function createTold(options: {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  network: string;
  shared?: SharedTips | undefined;
  onAlone?: (error: unknown) => void;
}): Told {
  const { clock, network, onAlone, shared } = options;
  /** What this process raised. */
  const own = new Map<TipTag, { number: number; at: number }>();
  /** What the store said, and in which order it was asked. */
  const stored = new Map<TipTag, { number: number | null; order: number; at: number }>();
  const raising = new Map<TipTag, { number: number; done: Promise<void> }>();
  let order = 0;
  let aloneUntil = Number.NEGATIVE_INFINITY;

  const mine = (tag: TipTag, heldMs: number = HOLD_MS[tag]): number | null => {
    const told = own.get(tag);
    return told !== undefined && clock.elapsed() - told.at <= heldMs ? told.number : null;
  };
  const known = (tag: TipTag): number | null => {
    const read = stored.get(tag);
    const theirs = read === undefined || clock.elapsed() - read.at > HOLD_MS[tag] ? null : read.number;
    if (shared !== undefined && clock.elapsed() >= aloneUntil) return theirs;
    const number = mine(tag);
    return theirs === null || (number !== null && number > theirs) ? number : theirs;
  };
  /** An answer to an earlier question does not lower what a later one brought. */
  const learn = (tag: TipTag, number: number | null, asked: number): void => {
    const before = stored.get(tag);
    if (before !== undefined && asked < before.order && (number ?? -1) <= (before.number ?? -1)) return;
    stored.set(tag, { number, order: Math.max(asked, before?.order ?? 0), at: clock.elapsed() });
  };
  const alone = (error: unknown): void => {
    aloneUntil = clock.elapsed() + ALONE_MS;
    onAlone?.(error);
  };

  const write = async (store: SharedTips, tag: TipTag, number: number): Promise<void> => {
    const at = clock.elapsed();
    own.set(tag, { number, at });
    if (at < aloneUntil) return;
    order += 1;
    const asked = order;
    try {
      learn(tag, await inTime(store.raise(network, tag, number, HOLD_MS[tag])), asked);
    } catch (error) {
      alone(error);
    }
  };
  const raise = (tag: TipTag, number: number): Promise<void> | undefined => {
    const before = known(tag);
    if (before !== null && number < before) return undefined;
    if (shared === undefined) {
      own.set(tag, { number, at: clock.elapsed() });
      return undefined;
    }
    const under = raising.get(tag);
    if (under !== undefined && under.number >= number) return under.done;
    if (number === before && mine(tag, RENEW_MS) === number) return undefined;
    const done = write(shared, tag, number).finally(() => {
      if (raising.get(tag)?.done === done) raising.delete(tag);
    });
    raising.set(tag, { number, done });
    return done;
  };

  const read = async (store: SharedTips): Promise<void> => {
    if (clock.elapsed() < aloneUntil) return;
    try {
      await readOnce(store);
    } catch (error) {
      alone(error);
    }
    await ready();
  };
  const readOnce = async (store: SharedTips): Promise<void> => {
    order += 1;
    const asked = order;
    const sentAt = clock.elapsed();
    const { gateways = [], ...numbers } = await inTime(store.read(network));
    for (const tag of ['latest', 'safe', 'finalized'] as const) {
      learn(tag, numbers[tag] ?? null, asked);
      // The store lost it.
      const lost = mine(tag, HOLD_MS[tag] - MARGIN_MS);
      if (lost !== null && lost > (known(tag) ?? -1)) await raise(tag, lost);
    }
    presence?.saw(gateways, sentAt);
  };
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const readNext = (shared: SharedTips): Promise<void> => {
    if (next !== undefined) return next;
    const start = (): Promise<void> => {
      next = undefined;
      const reading = read(shared).finally(() => {
        if (running === reading) running = undefined;
      });
      running = reading;
      return reading;
    };
    if (running === undefined) return start();
    next = running.then(start);
    return next;
  };

  const id = randomUUID();
  const presence =
    shared?.announce === undefined
      ? undefined
      : createPresence({
          ...{ clock, id, onAway: alone },
          announce: async () => inTime(shared.announce?.(network, id, ANNOUNCED_MS) ?? Promise.resolve()),
          read: () => readOnce(shared),
        });
  const ready = (): Promise<void> | undefined =>
    clock.elapsed() < aloneUntil ? undefined : presence?.ready();
  const refresh = (): Promise<void> | undefined => {
    if (shared === undefined) return undefined;
    const under = raising.get('latest');
    const joining = ready();
    if (joining !== undefined) return joining;
    if (presence?.alone() === true) {
      if (presence.due()) void readNext(shared);
      return under?.done;
    }
    const reading = readNext(shared);
    return under === undefined ? reading : under.done.then(() => reading);
  };

  const leave = async (): Promise<void> => {
    await shared?.announce?.(network, id, 0).catch(() => undefined);
  };

  return { known, leave, raise, ready, refresh };
}

/** Rejects if the store takes longer than a call can wait for it. */
async function inTime<T>(asking: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${STORE_MS} ms`)), STORE_MS);
  });
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}
