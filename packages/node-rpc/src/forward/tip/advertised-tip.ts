import { randomUUID } from 'node:crypto';
import type { Clock } from '@packhouse/runtime';
import {
  ANNOUNCED_MS,
  createMembership,
  createSharedReads,
  type SharedTips,
  type TipTag,
} from './shared-tips.js';

/** The newest block numbers that clients of a network were given. */
export type AdvertisedTip = ReturnType<typeof createAdvertisedTip>;

/**
 * A number that no upstream of any gateway confirmed for this long does not count: a reset of the chain. What is final
 * is not asked for as often.
 */
const HOLD_MS = { latest: 30_000, safe: 300_000, finalized: 300_000 } as const;
/** How often a number that stays the same is raised again. */
const RENEW_MS = 10_000;
/** The process does not wait for a store that failed this recently. */
const ALONE_MS = 1_000;
/** Longest wait for the store, unless it says otherwise. */
const STORE_MS = 500;
/** In so many steps, of which one passes however long this process stands still: its own pause is not the store's. */
const STORE_STEPS = 10;
/** So that a number that expired in the store is not written again from here. */
const MARGIN_MS = 1_000;

/**
 * Creates the numbers of one network; nothing is advertised yet. `network` is its name in the store.
 *
 * A gateway raises a number in the store before it advertises it, and reads the store after a client asks for one: so no
 * answer is below an earlier one, of whichever gateway. Calls that arrive while a read is under way share the next one, so
 * there is one read at a time. A gateway that knows to be the only one does without.
 */
export function createAdvertisedTip(options: {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  network: string;
  shared?: SharedTips | undefined;
  onStoreAway?: (error: unknown) => void;
}) {
  const { clock, network, onStoreAway, shared } = options;
  let order = 0;
  let aloneUntil = Number.NEGATIVE_INFINITY;
  const isAlone = (): boolean => shared === undefined || clock.elapsed() < aloneUntil;
  const numbers = createNumbers(clock, isAlone);
  const { known, learn, mine } = numbers;
  const alone = (error: unknown): void => {
    aloneUntil = clock.elapsed() + ALONE_MS;
    onStoreAway?.(error);
  };

  const writes = createWrites({
    numbers,
    nextOrder: () => {
      order += 1;
      return order;
    },
    isAway: () => clock.elapsed() < aloneUntil,
    alone,
    network,
    shared,
  });
  const { lower, raise } = writes;

  const read = async (store: SharedTips): Promise<void> => {
    if (clock.elapsed() < aloneUntil) return;
    await readOnce(store).catch(alone);
    await ready();
  };
  const readOnce = async (store: SharedTips): Promise<void> => {
    const lowered = writes.lowered();
    if (lowered !== undefined) await lowered;
    order += 1;
    const asked = order;
    const sentAt = clock.elapsed();
    const { gateways = [], ...found } = await inTime(store, store.read(network));
    for (const tag of ['latest', 'safe', 'finalized'] as const) {
      learn(tag, found[tag] ?? null, asked);
      // The store lost it.
      const lost = mine(tag, HOLD_MS[tag] - MARGIN_MS);
      if (lost !== null && lost > (known(tag) ?? -1)) await raise(tag, lost);
    }
    membership?.update(gateways, sentAt);
  };
  const reads = shared === undefined ? undefined : createSharedReads(() => read(shared));

  const id = randomUUID();
  const membership = shared?.announce && joinGateways({ ...options, shared, id, alone, readOnce });

  /** Waits until this gateway may answer, as far as the others are concerned; undefined: at once. Never rejects. */
  const ready = (): Promise<void> | undefined =>
    clock.elapsed() < aloneUntil ? undefined : membership?.ready();
  /** Reads what other gateways advertised until now. Undefined: there are none, or none is running. Never rejects. */
  const refresh = (): Promise<void> | undefined => {
    if (reads === undefined) return undefined;
    const under = writes.raising('latest');
    const joining = ready();
    if (joining !== undefined) return joining;
    if (membership?.isOnly() === true) {
      if (membership.isReadDue()) void reads.next();
      return under;
    }
    const reading = reads.next();
    return under === undefined ? reading : under.then(() => reading);
  };

  /** Announces that this gateway ends. Never rejects. */
  const leave = async (): Promise<void> => {
    await shared?.announce?.(network, id, 0).catch(() => undefined);
  };

  return { known, leave, lower, raise, ready, refresh };
}

/** Creates the writes of one network's numbers. */
function createWrites(parts: {
  numbers: ReturnType<typeof createNumbers>;
  nextOrder(): number;
  /** Whether the store failed a moment ago. */
  isAway(): boolean;
  alone(error: unknown): void;
  network: string;
  shared: SharedTips | undefined;
}) {
  const { alone, isAway, network, nextOrder, shared } = parts;
  const { known, learn, mine, note, replace } = parts.numbers;
  const raising = new Map<TipTag, { number: number; done: Promise<void> }>();
  /** Until then the store may have a number that was taken back. */
  let lowering: Promise<void> | undefined;

  const write = async (store: SharedTips, tag: TipTag, number: number): Promise<void> => {
    note(tag, number);
    if (isAway()) return;
    if (lowering !== undefined) await lowering;
    const asked = nextOrder();
    try {
      learn(tag, await inTime(store, store.raise(network, tag, number, HOLD_MS[tag])), asked);
    } catch (error) {
      alone(error);
    }
  };
  /**
   * Notes that an upstream has this block. Before a client gets a number, this must have resolved. Never rejects; while
   * the store is away, the process goes on alone.
   */
  const raise = (tag: TipTag, number: number): Promise<void> | undefined => {
    const before = known(tag);
    if (before !== null && number < before) return undefined;
    if (shared === undefined) {
      note(tag, number);
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

  /**
   * Takes a number back that was of a false branch: none above `to` counts from now on, here and at other gateways; null:
   * none at all. Never rejects.
   */
  const lower = (tag: TipTag, to: number | null): Promise<void> | undefined => {
    const under = raising.get(tag);
    if (under === undefined && (known(tag) ?? -1) <= (to ?? -1)) return undefined;
    replace(tag, to, nextOrder());
    const before = lowering;
    const done = (async () => {
      // It would be written again.
      await Promise.all([before, under?.done]);
      if (shared?.lower === undefined || isAway()) return;
      await inTime(shared, shared.lower(network, tag, to)).catch(alone);
    })().finally(() => {
      if (lowering === done) lowering = undefined;
    });
    lowering = done;
    return done;
  };

  return {
    lower,
    raise,
    /** The raise of a number that is under way. */
    raising: (tag: TipTag): Promise<void> | undefined => raising.get(tag)?.done,
    /** Resolves when no number is being taken back; undefined: none is. */
    lowered: (): Promise<void> | undefined => lowering,
  };
}

/** The membership of this gateway among those of the store. */
function joinGateways({
  alone,
  clock,
  id,
  network,
  readOnce,
  shared,
}: {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  network: string;
  shared: SharedTips;
  id: string;
  alone(error: unknown): void;
  readOnce(store: SharedTips): Promise<void>;
}) {
  return createMembership({
    clock,
    id,
    onAway: alone,
    announce: async () => inTime(shared, shared.announce?.(network, id, ANNOUNCED_MS) ?? Promise.resolve()),
    read: () => readOnce(shared),
  });
}

/** Creates the numbers of one network, as far as this process knows them. */
function createNumbers({ elapsed }: Pick<Clock, 'elapsed'>, isAlone: () => boolean) {
  /** What this process raised. */
  const own = new Map<TipTag, { number: number; at: number }>();
  /** What the store said, and in which order it was asked. */
  const stored = new Map<TipTag, { number: number | null; order: number; at: number }>();
  /** Answers to questions before this one are of before a number was taken back. */
  const replacedAt = new Map<TipTag, number>();
  const mine = (tag: TipTag, heldMs: number = HOLD_MS[tag]): number | null => {
    const raised = own.get(tag);
    return raised !== undefined && elapsed() - raised.at <= heldMs ? raised.number : null;
  };
  return {
    mine,
    /** Notes what this process raises. */
    note(tag: TipTag, number: number): void {
      own.set(tag, { number, at: elapsed() });
    },
    /** The number that counts, as far as this process knows; null: none. */
    known(tag: TipTag): number | null {
      const read = stored.get(tag);
      const theirs = read === undefined || elapsed() - read.at > HOLD_MS[tag] ? null : read.number;
      if (!isAlone()) return theirs;
      const number = mine(tag);
      return theirs === null || (number !== null && number > theirs) ? number : theirs;
    },
    /** Sets the number that counts, whatever it was. */
    replace(tag: TipTag, number: number | null, order: number): void {
      replacedAt.set(tag, order);
      stored.set(tag, { number, order, at: elapsed() });
      if (number === null) own.delete(tag);
      else own.set(tag, { number, at: elapsed() });
    },
    /** An answer to an earlier question does not lower what a later one brought. */
    learn(tag: TipTag, number: number | null, asked: number): void {
      const before = stored.get(tag);
      if (asked < (replacedAt.get(tag) ?? 0)) return;
      if (before !== undefined && asked < before.order && (number ?? -1) <= (before.number ?? -1)) return;
      stored.set(tag, { number, order: Math.max(asked, before?.order ?? 0), at: elapsed() });
    },
  };
}

/** Rejects if the store takes longer than a call can wait for it. */
async function inTime<T>({ waitMs = STORE_MS }: Pick<SharedTips, 'waitMs'>, asking: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    let steps = 0;
    timer = setInterval(() => {
      steps += 1;
      if (steps === STORE_STEPS) reject(new Error(`no answer within ${waitMs} ms`));
    }, waitMs / STORE_STEPS);
  });
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearInterval(timer);
  }
}
