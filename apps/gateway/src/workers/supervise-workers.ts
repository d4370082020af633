import type { Cluster, Worker } from 'node:cluster';
import { type Context, type ProcessMessage, renderTogether } from '@packhouse/runtime';
import { createLocalSeconds } from '../access/local-seconds.js';
import type { CountAsk, ToPrimary, ToWorker } from './messages.js';

/** Pauses before a worker that ended is replaced: doubled each time, until one ran for a minute. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS, STEADY_MS] = [500, 30_000, 60_000];
/** How long a worker may take to tell its metrics, before the others are shown without it. */
const FIGURES_MS = 3_000;

/** The workers of a gateway. */
interface Workers {
  /** The metrics of all of them and of this process, as text. */
  render(): Promise<string>;
  /** Tells all of them to drain; resolves when they ended. */
  close(): Promise<void>;
  /** Resolves when all of them are ready for the first time. */
  readonly ready: Promise<void>;
}

/**
 * Starts the first worker, and the others once it listens, so that what keeps all of them from starting is said once;
 * replaces those that end. Holds no state but the counts of the current second.
 */
export function superviseWorkers(parts: {
  context: Context;
  cluster: Pick<Cluster, 'fork'>;
  count: number;
  /** To this process's own supervisor. */
  notify(message: ProcessMessage): void;
  /** Called if a worker ends for a reason that it told before the gateway listens. */
  abandon(exitCode: number): void;
}): Workers {
  const { context, count, notify } = parts;
  const { clock, logger, metrics } = context;
  const seconds = createLocalSeconds(clock);
  const workers = new Set<Worker>();
  const ready = new Set<Worker>();
  const figuring = new Map<number, (figures: object[]) => void>();
  const stop = new AbortController();
  let ids = 0;
  let listening = false;
  let allReady = false;
  let pauseMs = FIRST_PAUSE_MS;
  let emptied = (): void => undefined;
  let begun = (): void => undefined;
  const whenReady = new Promise<void>((resolve) => {
    begun = resolve;
  });

  const send = (worker: Worker, message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => undefined);
  };

  const counted = (worker: Worker, asks: readonly CountAsk[]): void =>
    send(worker, {
      type: 'counted',
      verdicts: asks.map(([id, name, limit, cost, before, more]) => {
        if (cost === null) return [id, seconds.left(name, limit), 0];
        const verdict = seconds.take(name, limit, cost, before);
        // Half of the rest at most, so that the others have some too; never what would be refused.
        const granted = verdict.allowed ? Math.min(more, Math.floor(verdict.remaining / 2)) : 0;
        return [id, granted > 0 ? seconds.take(name, limit, granted) : verdict, granted];
      }),
    });

  const figuresOf = (worker: Worker): Promise<object[]> =>
    new Promise((resolve) => {
      ids += 1;
      const id = ids;
      const end = (figures: object[]): void => {
        clearTimeout(late);
        figuring.delete(id);
        resolve(figures);
      };
      const late = setTimeout(end, FIGURES_MS, []);
      figuring.set(id, end);
      send(worker, { type: 'figures', id });
    });

  const render = async (): Promise<string> =>
    renderTogether(await Promise.all([metrics.figures(), ...[...workers].map(figuresOf)]));

  const becameReady = (worker: Worker): void => {
    ready.add(worker);
    if (allReady) send(worker, { type: 'all ready' });
    if (allReady || ready.size < count) return;
    allReady = true;
    for (const each of workers) send(each, { type: 'all ready' });
    logger.info({ workers: count }, 'all workers are ready');
    begun();
  };

  const hear = (worker: Worker, message: ToPrimary): void => {
    if (message.type === 'count') counted(worker, message.asks);
    else if (message.type === 'figures') figuring.get(message.id)?.(message.figures);
    else if (message.type === 'render') {
      const { id } = message;
      void render().then((text) => send(worker, { type: 'rendered', id, text }));
    } else if (message.type === 'ready') becameReady(worker);
    else if (message.type === 'problem') notify(message);
    else if (message.type === 'fatal' && !listening) {
      notify(message);
      parts.abandon(message.exitCode);
    } else if (message.type === 'listening' && !listening) {
      listening = true;
      notify(message);
      while (workers.size < count) start();
    }
  };

  const replace = async (startedAt: number): Promise<void> => {
    pauseMs = clock.elapsed() - startedAt >= STEADY_MS ? FIRST_PAUSE_MS : pauseMs;
    const waitMs = pauseMs;
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    logger.error({ waitMs }, 'a worker of the gateway ended: another one is started');
    await clock.sleep(waitMs, stop.signal).catch(() => undefined);
    if (!stop.signal.aborted) start();
  };

  const start = (): void => {
    const startedAt = clock.elapsed();
    const worker = parts.cluster.fork({ GATEWAY_WORKERS: String(count), METRICS_PORT: '0' });
    workers.add(worker);
    worker.on('message', (message: ToPrimary) => hear(worker, message));
    // Of a worker that ended while it was written to; its end is told by `exit`.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      workers.delete(worker);
      ready.delete(worker);
      if (workers.size === 0) emptied();
      if (!stop.signal.aborted) void replace(startedAt);
    });
  };
  start();

  return {
    render,
    ready: whenReady,
    async close() {
      stop.abort();
      const gone = new Promise<void>((resolve) => {
        emptied = resolve;
      });
      for (const worker of workers) send(worker, { type: 'drain' });
      if (workers.size > 0) await gone;
    },
  };
}
