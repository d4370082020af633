import type { Clock, Metrics, ProcessMessage } from '@packhouse/runtime';
import type { RateVerdict } from '../access/quotas.js';
import type { SecondLimiter } from '../access/rate-limiter.js';
import type { MaybePromise } from '../http/maybe-promise.js';

/** The part of a process that speaks with its primary. */
export interface Channel {
  send?(message: ToPrimary): unknown;
  on(event: 'message', listener: (message: ToWorker) => void): unknown;
}

/**
 * The part of a limit that a worker takes at once, to count by itself for the rest of the second; none of a limit that is
 * less than these parts. What is not used of it when the second ends is lost to the others.
 */
const SHARES = 200;
/** Most names with units taken ahead. */
const MAX_TAKEN = 10_000;

/** Units of a second that were taken ahead. */
interface Allowance {
  units: number;
  limit: number;
  /** The end of the primary's second, or a little before it. */
  until: number;
  /** More are being asked for. */
  asking: boolean;
}

type Counted = [verdict: RateVerdict, granted: number];

/** What a worker has of its primary. */
export interface WorkerLink {
  /** Counts for all workers together, in the primary; `of` keeps what has equal names apart. */
  seconds(of: 'key' | 'address'): SecondLimiter;
  /** The metrics of the whole gateway. */
  render(): Promise<string>;
  /** Resolves when all workers are ready. */
  readonly othersReady: Promise<void>;
}

/**
 * Links a worker to its primary. What is counted in one turn of the event loop is sent as one message, and of large
 * limits a part is taken ahead, so that most requests need none. Without its primary a worker ends, so nothing waits for ever.
 */
export function createWorkerLink(
  channel: Channel,
  { metrics, clock }: { metrics: Pick<Metrics, 'figures'>; clock: Pick<Clock, 'elapsed'> },
): WorkerLink {
  const counting = new Map<number, (counted: Counted) => void>();
  const ahead = new Map<string, Allowance>();
  const rendering = new Map<number, (text: string) => void>();
  let requests: CountRequest[] = [];
  let ids = 0;
  let allReady = (): void => undefined;
  const othersReady = new Promise<void>((resolve) => {
    allReady = resolve;
  });
  const send = (message: ToPrimary): void => void channel.send?.(message);

  channel.on('message', (message) => {
    if (message.type === 'counted') {
      for (const [id, verdict, granted] of message.verdicts) {
        counting.get(id)?.([verdict, granted]);
        counting.delete(id);
      }
    } else if (message.type === 'rendered') {
      rendering.get(message.id)?.(message.text);
      rendering.delete(message.id);
    } else if (message.type === 'figures') {
      const { id } = message;
      void metrics.figures().then((figures) => send({ type: 'figures', id, figures }));
    } else if (message.type === 'all ready') allReady();
  });

  const ask = (
    ...[name, limit, cost, counted, more]: [string, number, number | null, number, number]
  ): Promise<Counted> =>
    new Promise((resolve) => {
      ids += 1;
      counting.set(ids, resolve);
      requests.push([ids, name, limit, cost, counted, more]);
      if (requests.length > 1) return;
      setImmediate(() => {
        send({ type: 'count', requests });
        requests = [];
      });
    });

  /** Counts units that were taken ahead; undefined if they do not suffice. */
  const takeAhead = (taken: Allowance, limit: number, cost: number): RateVerdict | undefined => {
    const resetMs = taken.until - clock.elapsed();
    if (taken.limit !== limit || taken.units < cost || resetMs <= 0) return undefined;
    taken.units -= cost;
    return { allowed: true, window: 'second', limit, remaining: taken.units, resetMs };
  };

  const take = (name: string, limit: number, cost: number, counted: number): MaybePromise<RateVerdict> => {
    const part = Math.floor(limit / SHARES);
    if (part === 0 || counted > 0) return ask(name, limit, cost, counted, 0).then(([verdict]) => verdict);
    const taken = ahead.get(name) ?? { units: 0, limit, until: 0, asking: false };
    const here = takeAhead(taken, limit, cost);
    if (here !== undefined) return here;
    if (ahead.size >= MAX_TAKEN) ahead.clear();
    ahead.set(name, taken);
    const more = taken.asking ? 0 : part;
    if (more > 0) taken.asking = true;
    const askedAt = clock.elapsed();
    return ask(name, limit, cost, 0, more).then(([verdict, granted]) => {
      if (more === 0) return verdict;
      taken.asking = false;
      if (granted > 0) Object.assign(taken, { units: granted, limit, until: askedAt + verdict.resetMs });
      return verdict;
    });
  };

  return {
    seconds: (of) => ({
      take: (name, limit, cost, counted = 0) => take(`${of} ${name}`, limit, cost, counted),
      peek: (name, limit) => ask(`${of} ${name}`, limit, null, 0, 0).then(([verdict]) => verdict),
      close: async () => undefined,
    }),
    render: () =>
      new Promise((resolve) => {
        ids += 1;
        rendering.set(ids, resolve);
        send({ type: 'render', id: ids });
      }),
    othersReady,
  };
}

/**
 * A request to count: number, name of what is counted, limit, cost (null: nothing is counted), units counted before, and
 * units that the worker would like to have beside them, to count by itself in this second.
 */
export type CountRequest = [
  id: number,
  name: string,
  limit: number,
  cost: number | null,
  counted: number,
  more: number,
];

/** From a worker to its primary, beside what every process tells its supervisor. */
export type ToPrimary =
  | ProcessMessage
  | { type: 'count'; requests: CountRequest[] }
  /** Of all workers, as text. */
  | { type: 'render'; id: number }
  /** Its own, as asked. */
  | { type: 'figures'; id: number; figures: object[] };

/** From the primary to a worker. */
export type ToWorker =
  | { type: 'counted'; verdicts: [id: number, verdict: RateVerdict, granted: number][] }
  | { type: 'rendered'; id: number; text: string }
  | { type: 'figures'; id: number }
  /** All workers are ready. */
  | { type: 'all ready' }
  | { type: 'drain' };
