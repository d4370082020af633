import { DAY_MS, toDay } from '@packhouse/runtime';
/**
 * What a call is for: `urgent` for clients and the head, which may use a budget whole; `backfill` leaves the reserve.
 */
export type Use = 'urgent' | 'backfill';

export interface Limits {
  /** Units, null: no limit. May be below 1. */
  perSecond: number | null;
  /** Units of a day and of a calendar month, in UTC. */
  perDay: number | null;
  perMonth: number | null;
  /** The share that backfills leave of each, 0 to 0.9. */
  reserve: number;
}

/** Calls that wait to be sent, each of the same units. */
export interface Want {
  use: Use;
  each: number;
  calls: number;
}

/** How much of a want may be sent now; if not all, what keeps the rest back, and until when by the store's clock. */
export interface Grant {
  calls: number;
  throttledBy: { period: 'second' | 'day' | 'month'; until: number } | null;
}

/** What was taken of a budget; the times are of the store's clock, in milliseconds since 1970. */
export interface BudgetState {
  /** When it was last taken from. */
  at: number;
  /** Units of the last window, in the order of time; what was taken beyond a window is noted ahead of now. */
  recent: [at: number, units: number][];
  /** Days since 1970-01-01, and what was taken of it. */
  day: number;
  ofDay: number;
  /** Months since January of year 0. */
  month: number;
  ofMonth: number;
}

/** Requests that were spaced here may arrive closer together: the window is this much longer than a second. */
const SLACK = 1.03;
/** What is taken within so many milliseconds is noted as one. */
const SLOT_MS = 10;
/** A clock that is behind by less was not set back. */
const SAME_MS = 1_000;

interface Window {
  ms: number;
  units: number;
}

/** The units that may be taken of any window. */
export function toWindow(perSecond: number): Window {
  const ms = Math.max(1_000, 1_000 / perSecond);
  return { ms: ms * SLACK, units: Math.max(1, Math.floor((perSecond * ms) / 1_000)) };
}

/** A state from which these units were taken in the present day and month. */
export function createState(now: number, ofDay = 0, ofMonth = 0): BudgetState {
  return { at: now, recent: [], day: toDay(now), ofDay, month: getMonth(now), ofMonth };
}

/**
 * Takes what the limits allow now. A sliding window: no second of the store's clock has more than a second's units. Where
 * one call costs more than a window, it may begin in one that is not full, and is paid by the next windows: one that is
 * empty never comes where the head is polled. These keep the reserve, too.
 *
 * A clock that goes back makes no new room: one window is taken as full, and neither day nor month begins again.
 */
export function takeUnits(
  before: BudgetState,
  limits: Limits,
  wants: readonly Want[],
  readAt: number,
): { state: BudgetState; grants: Grant[] } {
  // Of two who read the time together, the later one to take has the time of the other.
  const now = readAt < before.at && before.at - readAt < SAME_MS ? before.at : readAt;
  const state = advanceState(before, limits, now);
  const grants = wants.map((want) => takeOne(state, limits, want, now));
  return { state, grants };
}

/** What is used of the present day and month, and when these end by the store's clock. */
export function getUsage(
  before: BudgetState,
  now: number,
): { ofDay: number; ofMonth: number; dayEnds: number; monthEnds: number } {
  const { day, month, ofDay, ofMonth } = advanceState(before, { perSecond: null }, now);
  return { ofDay, ofMonth, dayEnds: (day + 1) * DAY_MS, monthEnds: getMonthEnd(month) };
}

/** The state in which what was noted at one time is noted at a later one. */
export function delayState(state: BudgetState, noted: number, to: number): BudgetState {
  const slot = noted - (noted % SLOT_MS);
  const recent = state.recent
    .map(([at, units]): [number, number] => [at === slot ? Math.max(at, to) : at, units])
    .sort(([a], [b]) => a - b);
  return { ...state, at: Math.max(state.at, to), recent };
}

/** The state at this time: what has passed is forgotten. */
function advanceState(
  before: BudgetState,
  { perSecond }: Pick<Limits, 'perSecond'>,
  now: number,
): BudgetState {
  const state = { ...before, at: now, recent: [...before.recent] };
  const [day, month] = [toDay(now), getMonth(now)];
  if (day > state.day) Object.assign(state, { day, ofDay: 0 });
  if (month > state.month) Object.assign(state, { month, ofMonth: 0 });
  if (perSecond === null) state.recent = [];
  else {
    const { ms, units } = toWindow(perSecond);
    if (now < before.at) state.recent = [[now, units]];
    state.recent = state.recent.filter(([at]) => at > now - ms);
  }
  return state;
}

function takeOne(state: BudgetState, limits: Limits, { use, each, calls }: Want, now: number): Grant {
  const share = use === 'backfill' ? 1 - limits.reserve : 1;
  const left = (limit: number | null, used: number): number =>
    limit === null ? calls : Math.max(0, Math.floor((Math.floor(limit * share) - used) / each));
  const ofMonth = left(limits.perMonth, state.ofMonth);
  const ofDay = left(limits.perDay, state.ofDay);
  const second = fitSecond(state, limits, { use, each, calls }, share, now);
  const granted = Math.min(calls, ofMonth, ofDay, second.calls);
  state.ofDay += granted * each;
  state.ofMonth += granted * each;
  if (granted > 0 && limits.perSecond !== null) {
    note(state, scaleWindow(toWindow(limits.perSecond), share), granted * each, now);
  }
  if (granted === calls) return { calls: granted, throttledBy: null };
  const rest = { use, each, calls: calls - granted };
  if (ofMonth === granted)
    return { calls: granted, throttledBy: { period: 'month', until: getMonthEnd(state.month) } };
  if (ofDay === granted) {
    return { calls: granted, throttledBy: { period: 'day', until: (state.day + 1) * DAY_MS } };
  }
  const { until } = fitSecond(state, limits, rest, share, now);
  return { calls: granted, throttledBy: { period: 'second', until } };
}

/** How many calls fit into the window now, and if none, when one does. */
function fitSecond(
  { recent }: BudgetState,
  { perSecond }: Limits,
  { each, calls }: Want,
  share: number,
  now: number,
): { calls: number; until: number } {
  if (perSecond === null) return { calls, until: now };
  const { ms, units: most } = scaleWindow(toWindow(perSecond), share);
  const fitting = (used: number): number =>
    each > most ? Number(used < most) : Math.max(0, Math.floor((most - used) / each));
  let used = sumUnits(recent);
  const fit = fitting(used);
  if (fit > 0) return { calls: fit, until: now };
  let until = now;
  for (const [at, taken] of recent) {
    used -= taken;
    until = at + ms;
    if (fitting(used) > 0) break;
  }
  return { calls: 0, until };
}

/** The part of a window that a use may take. */
function scaleWindow({ ms, units }: Window, share: number): Window {
  return { ms, units: Math.max(1, Math.floor(units * share)) };
}

/** Notes units; those beyond a window are noted ahead, so that they fill the windows up to then. */
function note({ recent }: BudgetState, window: Window, units: number, now: number): void {
  const windows = Math.ceil((sumUnits(recent) + units) / window.units);
  const at = now - (now % SLOT_MS) + (Math.max(1, windows) - 1) * window.ms;
  const before = recent.findLastIndex(([noted]) => noted <= at);
  const same = recent[before];
  if (same?.[0] === at) same[1] += units;
  else recent.splice(before + 1, 0, [at, Math.min(units, window.units)]);
}

function sumUnits(recent: BudgetState['recent']): number {
  return recent.reduce((sum, [, units]) => sum + units, 0);
}

function getMonth(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function getMonthEnd(month: number): number {
  return Date.UTC(Math.floor(month / 12), (month % 12) + 1);
}
