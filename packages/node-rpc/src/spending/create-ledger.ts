import {
  type CallSignal,
  type Clock,
  type Context,
  createFairTurns,
  createOnceAWhile,
  describeError,
  getOrAdd,
  PackhouseError,
  redact,
} from '@packhouse/runtime';
import {
  type BudgetState,
  delayState,
  type Grant,
  type Limits,
  takeUnits,
  type Use,
  type Want,
} from './budget-rule.js';
import type { LeaseStore } from './lease-store.js';
import type { Caller, UpstreamSpending } from './spending.js';

/** One budget as a process takes from it, together with all others. */
export type Ledger = ReturnType<typeof createLedger>;

interface Waiting {
  want: Want;
  settle(calls: number | Error): void;
}

interface LedgerOptions {
  key: string;
  /** As a sentence names it: `provider alchemy`. */
  name: string;
  provider: string;
  limits(): Limits;
  /** The state of a budget that the store does not know. */
  first(now: number): Promise<BudgetState>;
  store: LeaseStore;
  context: Pick<Context, 'clock' | 'logger'>;
}

/** Callers that ask together; others wait for their turns. */
const TOGETHER = 32;
/** Tries to store a state before the store is taken for broken. */
const MAX_SWAPS = 200;
/** While the store is away it is not asked again for this long. */
const AWAY_MS = 1_000;
const COMPLAIN_MS = 60_000;
/** A grant that took longer is noted again; a window is longer than a second by more than this. */
const LATE_MS = 15;
const USES = ['urgent', 'backfill'] as const;

/**
 * Opens a budget. What waits here is asked for in one exchange with the store at a time, and is sent at once, so that
 * nothing is taken that is not used. The times are of the store's clock: those of the machines do not matter.
 */
export function createLedger(options: LedgerOptions) {
  const { context, limits } = options;
  const { clock, logger } = context;
  const turns = createFairTurns(TOGETHER);
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.elapsed());
  const waiting = new Set<Waiting>();
  const refusals = createRefusals(clock);
  let asking = false;
  /** Ends the sleep between two exchanges; null: there is none. */
  let wake: (() => void) | null = null;
  /** A call was queued during the exchange. */
  let fresh = false;

  const refuse = (use: Use, error: PackhouseError, forMs: number): void => {
    refusals.set(use, error, forMs);
    for (const one of waiting) if (one.want.use === use) one.settle(error);
  };

  /** Asks once for all that wait. Returns how long what still waits has to wait. */
  const askOnce = async (): Promise<number> => {
    const groups = getGroups(waiting);
    const askedAt = performance.now();
    const { grants, now } = await takeFromStore(
      options,
      groups.map(({ want }) => want),
    );
    let waitMs = Number.POSITIVE_INFINITY;
    for (const [use, throttledBy] of settleGrants(groups, grants)) {
      const ms = throttledBy.until - now;
      if (throttledBy.period === 'second') waitMs = Math.min(waitMs, ms);
      else refuse(use, buildExhaustedError(options, use, throttledBy), ms);
    }
    const sent = grants.some(({ calls }) => calls > 0);
    if (sent && limits().perSecond !== null && performance.now() - askedAt > LATE_MS)
      await noteLater(options, now);
    return waitMs;
  };

  const ask = async (): Promise<void> => {
    asking = true;
    try {
      while (waiting.size > 0) {
        fresh = false;
        const waitMs = await askOnce();
        if (waiting.size > 0 && !fresh) await sleepOrWake(waitMs);
      }
    } catch (cause) {
      const error = buildUnavailableError(options, cause);
      if (seldom(error.message).say) logger.warn({ err: error }, 'budget unavailable');
      for (const use of USES) refuse(use, error, AWAY_MS);
    } finally {
      asking = false;
    }
  };
  const sleepOrWake = async (ms: number): Promise<void> => {
    const woken = new AbortController();
    wake = () => woken.abort();
    await clock.sleep(Math.max(1, Math.ceil(ms)), woken.signal).catch(() => undefined);
    wake = null;
  };

  const enqueue = (want: Want, signal: CallSignal): Promise<number> => {
    // Behind one that waits for the same nothing new can be granted.
    const behind = [...waiting].some((other) => other.want.use === want.use && other.want.each <= want.each);
    const granted = addWaiting(waiting, want, signal);
    fresh = true;
    if (!asking) void ask();
    else if (!behind) wake?.();
    return granted;
  };

  return {
    refusal: refusals.get,
    /**
     * Waits until some of these calls may be sent, and returns how many: at least one. Throws BUDGET_EXHAUSTED,
     * BUDGET_UNAVAILABLE, and the signal's reason.
     */
    async take(want: Want, signal: CallSignal, caller: Caller = ''): Promise<number> {
      const leave = await turns.enter(caller, signal);
      try {
        if (signal.aborted) throw signal.reason;
        const known = refusals.get(want.use);
        if (known !== null) throw known.error;
        return await enqueue(want, signal);
      } finally {
        leave();
      }
    },
    /** To be called when the limits changed: what is refused is asked again. */
    changed(): void {
      refusals.clear();
      wake?.();
    },
  };
}

/** Adds what is wanted to those that wait. Resolves with the calls that are granted. */
function addWaiting(waiting: Set<Waiting>, want: Want, signal: CallSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => one.settle(signal.reason as Error);
    const one: Waiting = {
      want,
      settle(calls) {
        if (!waiting.delete(one)) return;
        signal.removeEventListener('abort', onAbort);
        if (typeof calls === 'number') resolve(calls);
        else reject(calls);
      },
    };
    waiting.add(one);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Creates the memory of what each use was refused for, until it may be asked for again. */
function createRefusals(clock: Pick<Clock, 'elapsed'>) {
  const refused = new Map<Use, { error: PackhouseError; until: number }>();
  const get: UpstreamSpending['refusal'] = (use) => {
    const known = refused.get(use);
    if (known === undefined) return null;
    const waitMs = known.until - clock.elapsed();
    if (waitMs > 0) return { error: known.error, waitMs };
    refused.delete(use);
    return null;
  };
  return {
    get,
    set(use: Use, error: PackhouseError, forMs: number): void {
      refused.set(use, { error, until: clock.elapsed() + forMs });
    },
    clear: (): void => refused.clear(),
  };
}

/** Gives each member of the groups what is granted to it, in their order. Returns what keeps the rest back, by use. */
function settleGrants(
  groups: ReturnType<typeof getGroups>,
  grants: readonly Grant[],
): [Use, NonNullable<Grant['throttledBy']>][] {
  return groups.flatMap(({ members, want }, index): [Use, NonNullable<Grant['throttledBy']>][] => {
    const { calls, throttledBy } = grants[index] as Grant;
    let left = calls;
    for (const member of members) {
      const mine = Math.min(left, member.want.calls);
      left -= mine;
      if (mine > 0) member.settle(mine);
    }
    return throttledBy === null ? [] : [[want.use, throttledBy]];
  });
}

/** Takes from the budget in the store what it grants. */
async function takeFromStore(
  { first, key, limits, store }: LedgerOptions,
  wants: readonly Want[],
): Promise<{ grants: Grant[]; now: number }> {
  for (let tries = 0; tries < MAX_SWAPS; tries++) {
    const { state, now } = await store.read(key);
    const before = state === null ? await first(now) : (JSON.parse(state) as BudgetState);
    const taken = takeUnits(before, limits(), wants, now);
    const nothing = taken.grants.every(({ calls }) => calls === 0);
    if (nothing || (await store.swap(key, state, JSON.stringify(taken.state)))) {
      return { grants: taken.grants, now };
    }
  }
  throw new Error(`others changed it ${MAX_SWAPS} times meanwhile`);
}

/**
 * What came back late is sent later than it is noted: it is noted again, at a time that is not before that of its
 * sending, or the next window would begin too early.
 */
async function noteLater({ key, store }: LedgerOptions, noted: number): Promise<void> {
  for (let tries = 0; tries < MAX_SWAPS; tries++) {
    const { state, now } = await store.read(key);
    if (state === null) return;
    const later = delayState(JSON.parse(state) as BudgetState, noted, now);
    if (await store.swap(key, state, JSON.stringify(later))) return;
  }
}

/** Those that wait for the same use and cost, urgent ones first, else in the order of asking. */
function getGroups(waiting: ReadonlySet<Waiting>): { want: Want; members: Waiting[] }[] {
  const groups = new Map<string, { want: Want; members: Waiting[] }>();
  for (const one of waiting) {
    const { use, each, calls } = one.want;
    const group = getOrAdd(groups, `${use} ${each}`, () => ({ want: { use, each, calls: 0 }, members: [] }));
    group.want.calls += calls;
    group.members.push(one);
  }
  return [...groups.values()].sort((a, b) => USES.indexOf(a.want.use) - USES.indexOf(b.want.use));
}

function buildExhaustedError(
  { name, provider }: LedgerOptions,
  use: Use,
  { period, until: untilMs }: NonNullable<Grant['throttledBy']>,
): PackhouseError {
  const until = new Date(untilMs).toISOString();
  const what = use === 'backfill' ? 'what backfills may take of the budget' : 'the budget';
  return new PackhouseError({
    code: 'BUDGET_EXHAUSTED',
    message: `Of ${name} ${what} of the ${period} is used up: nothing more is asked of it until ${until}.`,
    hint: 'See `packhouse budget list`; `packhouse budget set` changes it within a second.',
    data: { provider, period, until },
  });
}

function buildUnavailableError({ name, provider }: LedgerOptions, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'BUDGET_UNAVAILABLE',
    message: `The budget of ${name} cannot be counted: ${redact(describeError(cause)).replace(/\.$/, '')}; nothing is asked of it meanwhile.`,
    hint: 'Check Redis, or Postgres where there is none: without them no process knows what the others ask.',
    data: { provider },
    cause,
  });
}
