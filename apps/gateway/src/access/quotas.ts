import type { KeyRow, UnitsUsed } from '@packhouse/database';
import { type Clock, DAY_MS, toDay } from '@packhouse/runtime';

/** How a key stands against the limits of its day and month. */
export interface QuotaVerdict {
  /** The window that refuses, otherwise the one with less left; null: the plan limits neither. */
  nearest: RateVerdict | null;
  /** `day 83% of 1000000 units`, with a comma between two; absent below 80 %. */
  warning: string | undefined;
}

/** Units of a key in one window. */
export interface WindowUse {
  used: number;
  /** When the next window begins, in milliseconds since 1970. */
  endsAt: number;
}

/** Units of keys by day and calendar month in UTC, as far as this gateway knows. */
export type Quotas = ReturnType<typeof createQuotas>;

/** From this part of a limit on there is a warning. */
const WARN_FROM = 0.8;
/** Days and months that are remembered: a clock that is put back finds what was used before. */
const REMEMBERED = 3;

const NO_LIMIT: QuotaVerdict = { nearest: null, warning: undefined };

/** Units by key. */
type Counts = Map<number, number>;

interface CurrentWindows {
  day: number;
  dayEndsAt: number;
  monthEndsAt: number;
  inDay: Counts;
  inMonth: Counts;
}

/** Creates counts that know nothing yet. */
export function createQuotas(clock: Pick<Clock, 'now'>) {
  /** By day and by month, the last used behind. */
  const days = new Map<number, Counts>();
  const months = new Map<number, Counts>();
  let present: CurrentWindows | undefined;

  const getWindows = (now: number): CurrentWindows => {
    const day = toDay(now);
    if (present?.day === day) return present;
    const month = getMonth(day);
    present = {
      day,
      dayEndsAt: (day + 1) * DAY_MS,
      monthEndsAt: Date.UTC(1970, month + 1),
      inDay: lastUsed(days, day),
      inMonth: lastUsed(months, month),
    };
    return present;
  };

  const getVerdict = (
    { plan }: KeyRow,
    at: CurrentWindows,
    now: number,
    day: number,
    month: number,
  ): QuotaVerdict => {
    const { requestsPerDay, requestsPerMonth } = plan;
    const ofDay = requestsPerDay === null ? null : verdict('day', requestsPerDay, day, at.dayEndsAt - now);
    const ofMonth =
      requestsPerMonth === null ? null : verdict('month', requestsPerMonth, month, at.monthEndsAt - now);
    return { nearest: nearest(ofDay, ofMonth), warning: getWarning(plan, day, month) };
  };

  return {
    /** Counts units of a key; refused ones are not counted. */
    take(key: KeyRow, cost: number): QuotaVerdict {
      const now = clock.now();
      const at = getWindows(now);
      const day = (at.inDay.get(key.id) ?? 0) + cost;
      const month = (at.inMonth.get(key.id) ?? 0) + cost;
      const { requestsPerDay, requestsPerMonth } = key.plan;
      const limited = requestsPerDay !== null || requestsPerMonth !== null;
      const taken = limited ? getVerdict(key, at, now, day, month) : NO_LIMIT;
      if (taken.nearest?.allowed === false) return taken;
      at.inDay.set(key.id, day);
      at.inMonth.set(key.id, month);
      return taken;
    },
    /** Returns how a key stands without counting; `allowed` is always true. */
    peek(key: KeyRow): QuotaVerdict {
      const now = clock.now();
      const at = getWindows(now);
      const { id } = key;
      const left = getVerdict(key, at, now, at.inDay.get(id) ?? 0, at.inMonth.get(id) ?? 0);
      return left.nearest === null ? left : { ...left, nearest: { ...left.nearest, allowed: true } };
    },
    /** Units of the day and month of `now`. */
    used(keyId: number, now: number): { day: WindowUse; month: WindowUse } {
      const at = getWindows(now);
      return {
        day: { used: at.inDay.get(keyId) ?? 0, endsAt: at.dayEndsAt },
        month: { used: at.inMonth.get(keyId) ?? 0, endsAt: at.monthEndsAt },
      };
    },
    /** Takes totals of all gateways, with what this one has not written yet. */
    update({ keyId, day, inDay, inMonth }: UnitsUsed): void {
      raise(days.get(day), keyId, inDay);
      raise(months.get(getMonth(day)), keyId, inMonth);
    },
  };
}

/** The number of a day's month in UTC, counted from January 1970. */
export function getMonth(day: number): number {
  const date = new Date(day * DAY_MS);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function lastUsed(windows: Map<number, Counts>, number: number): Counts {
  const counts = windows.get(number) ?? new Map<number, number>();
  windows.delete(number);
  windows.set(number, counts);
  for (const oldest of windows.keys()) {
    if (windows.size <= REMEMBERED) break;
    windows.delete(oldest);
  }
  return counts;
}

function raise(counts: Counts | undefined, keyId: number, units: number): void {
  if (counts !== undefined && units > (counts.get(keyId) ?? 0)) counts.set(keyId, units);
}

function verdict(window: 'day' | 'month', limit: number, used: number, resetMs: number): RateVerdict {
  return { allowed: used <= limit, window, limit, remaining: Math.max(0, limit - used), resetMs };
}

/** A refusal, of the month first because it lasts longer; otherwise the one with less left. */
function nearest(day: RateVerdict | null, month: RateVerdict | null): RateVerdict | null {
  if (day === null || month === null) return day ?? month;
  if (!month.allowed || !day.allowed) return month.allowed ? day : month;
  return month.remaining < day.remaining ? month : day;
}

function getWarning(plan: KeyRow['plan'], day: number, month: number): string | undefined {
  const ofDay = warn('day', day, plan.requestsPerDay);
  const ofMonth = warn('month', month, plan.requestsPerMonth);
  return ofDay === undefined || ofMonth === undefined ? (ofDay ?? ofMonth) : `${ofDay}, ${ofMonth}`;
}

function warn(window: string, used: number, limit: number | null): string | undefined {
  if (limit === null || used < limit * WARN_FROM) return undefined;
  return `${window} ${Math.min(100, Math.floor((used * 100) / limit))}% of ${limit} units`;
}

/** The rest of a key's units, in the window that is nearest to its limit. */
export interface RateVerdict {
  allowed: boolean;
  window: 'second' | 'day' | 'month';
  /** The method whose limit refused; absent: the limit is of all methods together. */
  method?: string;
  /** Units per window; calls if it is the limit of a method. */
  limit: number;
  remaining: number;
  /** Milliseconds until the next window. */
  resetMs: number;
  /** The windows whose limit is near, for the header; absent: none is. */
  warning?: string;
}

/** Takes the headers of an answer. */
export interface AnswerHeaders {
  header(name: string, value: string | number): unknown;
}

/**
 * Sets the headers: the rest of the window nearest to its limit, and the units that this request cost. The drafts of
 * RateLimit fields (draft-ietf-httpapi-ratelimit-headers) have no warning, so it has a field of its own.
 */
export function writeRateLimitHeaders(
  answer: AnswerHeaders,
  { limit, remaining, resetMs, warning }: Pick<RateVerdict, 'limit' | 'remaining' | 'resetMs' | 'warning'>,
  cost: number,
): void {
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', Math.ceil(resetMs / 1_000));
  answer.header('ratelimit-cost', cost);
  if (warning !== undefined) answer.header('packhouse-usage-warning', warning);
}
