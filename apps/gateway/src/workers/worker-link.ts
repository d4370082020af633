import type { Metrics } from '@packhouse/runtime';
import type { RateVerdict } from '../access/rate-headers.js';
import type { SecondLimiter } from '../access/rate-limiter.js';
import type { CountAsk, ToPrimary, ToWorker } from './messages.js';

/** The part of a process that speaks with its primary. */
export interface Channel {
  send?(message: ToPrimary): unknown;
  on(event: 'message', listener: (message: ToWorker) => void): unknown;
}

/** What a worker has of its primary. */
interface WorkerLink {
  /** Counts for all workers together, in the primary; `of` keeps what has equal names apart. */
  seconds(of: 'key' | 'address'): SecondLimiter;
  /** The metrics of the whole gateway. */
  render(): Promise<string>;
  /** Resolves when all workers are ready. */
  readonly othersReady: Promise<void>;
}

/**
 * Links a worker to its primary. What is counted in one turn of the event loop is sent as one message. Without its
 * primary a worker ends, so nothing waits for ever.
 */
export function createWorkerLink(channel: Channel, metrics: Pick<Metrics, 'figures'>): WorkerLink {
  const counting = new Map<number, (verdict: RateVerdict) => void>();
  const rendering = new Map<number, (text: string) => void>();
  let asks: CountAsk[] = [];
  let ids = 0;
  let allReady = (): void => undefined;
  const othersReady = new Promise<void>((resolve) => {
    allReady = resolve;
  });
  const send = (message: ToPrimary): void => void channel.send?.(message);

  channel.on('message', (message) => {
    if (message.type === 'counted') {
      for (const [id, verdict] of message.verdicts) {
        counting.get(id)?.(verdict);
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

  const count = (name: string, limit: number, cost: number | null, counted = 0): Promise<RateVerdict> =>
    new Promise((resolve) => {
      ids += 1;
      counting.set(ids, resolve);
      asks.push([ids, name, limit, cost, counted]);
      if (asks.length > 1) return;
      setImmediate(() => {
        send({ type: 'count', asks });
        asks = [];
      });
    });

  return {
    seconds: (of) => ({
      take: (name, limit, cost, counted) => count(`${of} ${name}`, limit, cost, counted),
      left: (name, limit) => count(`${of} ${name}`, limit, null),
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
