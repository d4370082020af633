import { type Clock, getOrAdd } from '@packhouse/runtime';

/*
 * How many calls of one method share a request to one upstream.
 *
 *   single ──4 calls timed──▶ 4 ──each time 4 batches were as fast──▶ 8, 16, … 100
 *     ▲                       │
 *     └──── a minute, doubled ┴── half as many if they were slower, too much, or not answered
 *
 * Until an upstream has answered a batch, one at a time is tried; if that fails, none of any method for as long.
 * One in 16 groups still sends its first call alone. So both are timed under the same load, and no client waits longer
 * because its call has company. calls/batch-sizes.ts is about something else: there nobody waits for a single call.
 */

const START = 4;
const LARGEST = 100;
/** Single calls that are timed before the first batch. */
const MIN_SINGLES = 4;
/** Batches of one size that are timed before it changes. */
const SAMPLES = 4;
const ALONE_EVERY = 16;
/** Slower calls are sent alone: a batch that is given up would ask a busy node for them twice. */
const MAX_SINGLE_MS = 50;
/** A batch is as fast as a single call within this factor, and so many milliseconds. */
const [FACTOR, SLACK_MS] = [2, 2];
/** Answers of a batch together: larger ones are passed on while they come, which a batch cannot be. */
const TARGET_BYTES = 65_536;
const [MIN_OFF_MS, MAX_OFF_MS] = [60_000, 3_600_000];
/** How long a batch is waited for, as a multiple of a single call's time, and at least, in milliseconds. */
const PATIENCE_FACTOR = 8;
const MIN_PATIENCE_MS = 100;
/** More methods than any family has; those of further ones are sent alone. */
const MAX_METHODS = 256;

/** The number of calls in a request to one upstream, learnt for each method. */
export type CallBatchSizes = ReturnType<typeof createCallBatchSizes>;

/** Creates the sizes of one upstream: nothing is known of it yet. */
export function createCallBatchSizes(clock: Pick<Clock, 'elapsed'>) {
  const unknown = () => ({
    most: START,
    singles: 0,
    singleMs: 0,
    bytes: 0,
    batches: 0,
    batchMs: 0,
    groups: 0,
    offUntil: 0,
    offMs: MIN_OFF_MS,
  });
  const methods = new Map<string, ReturnType<typeof unknown>>();
  const none = unknown();
  const trial = createTrial(clock);
  const learnt = (method: string) =>
    methods.size < MAX_METHODS ? getOrAdd(methods, method, unknown) : (methods.get(method) ?? none);

  const halve = (known: ReturnType<typeof unknown>): void => {
    known.batches = 0;
    known.most = Math.floor(known.most / 2);
    if (known.most >= 2) return;
    known.most = START;
    turnOff(known, clock);
  };

  return {
    /** How many calls may share a request now; 1: none. */
    most(method: string): number {
      const { bytes, most, offUntil, singleMs, singles } = learnt(method);
      if (singles < MIN_SINGLES || singleMs > MAX_SINGLE_MS || offUntil > clock.elapsed()) return 1;
      if (trial.isOff()) return 1;
      return bytes * most <= TARGET_BYTES ? most : Math.max(1, Math.floor(TARGET_BYTES / bytes));
    },
    /** Whether the first call of the next group is sent alone. */
    isAloneNext(method: string): boolean {
      const known = learnt(method);
      known.groups += 1;
      return known.groups % ALONE_EVERY === 0;
    },
    patienceMs: (method: string): number =>
      Math.max(MIN_PATIENCE_MS, learnt(method).singleMs * PATIENCE_FACTOR),
    /** Reports an answer to a call that was sent alone. */
    single(method: string, ms: number, bytes: number): void {
      const known = learnt(method);
      if (known === none) return;
      known.singles += 1;
      known.singleMs = toMean(known.singleMs, ms, known.singles);
      known.bytes = Math.max(bytes, toMean(known.bytes, bytes, known.singles));
    },
    /** Reports that a batch is sent. */
    begun: trial.begun,
    /** Reports a batch that nobody waited for any more. */
    givenUp: trial.givenUp,
    /** Reports a batch that was answered completely; `bytes` of all. */
    answered(method: string, calls: number, ms: number, bytes: number): void {
      const known = learnt(method);
      trial.passed();
      known.batches += 1;
      known.batchMs = toMean(known.batchMs, ms, known.batches);
      known.bytes = toMean(known.bytes, bytes / calls, known.singles);
      if (known.batches < SAMPLES) return;
      if (known.batchMs > FACTOR * known.singleMs + SLACK_MS) {
        if (known.batches >= 2 * SAMPLES) halve(known);
      } else if (calls >= known.most && known.most < LARGEST) {
        known.batches = 0;
        known.most = Math.min(LARGEST, 2 * known.most);
        if (known.most === LARGEST) known.offMs = MIN_OFF_MS;
      }
    },
    /** Reports a batch that was too much: late, too large, or not answered completely. */
    tooMuch(method: string): void {
      if (!trial.failed()) halve(learnt(method));
    },
  };
}

/** Whether an upstream answers batches at all: until it has, one is tried at a time. */
function createTrial(clock: Pick<Clock, 'elapsed'>) {
  const off = { offUntil: 0, offMs: MIN_OFF_MS };
  let [isProven, isTrying] = [false, false];
  return {
    isOff: (): boolean => !isProven && (isTrying || off.offUntil > clock.elapsed()),
    begun(): void {
      isTrying = true;
    },
    givenUp(): void {
      isTrying = false;
    },
    passed(): void {
      isProven = true;
    },
    /** Returns false if it has answered others. */
    failed(): boolean {
      isTrying = false;
      if (!isProven) turnOff(off, clock);
      return !isProven;
    },
  };
}

function turnOff(of: { offUntil: number; offMs: number }, clock: Pick<Clock, 'elapsed'>): void {
  of.offUntil = clock.elapsed() + of.offMs;
  of.offMs = Math.min(MAX_OFF_MS, 2 * of.offMs);
}

/** Values that a mean follows; fewer count alike. */
const FOLLOWED = 20;

/** The mean of `count` values, of which `value` is the last; of later ones more than of early ones. */
function toMean(before: number, value: number, count: number): number {
  return before + (value - before) / Math.max(1, Math.min(count, FOLLOWED));
}
