import type { Cluster, Worker } from 'node:cluster';
import { type Context, type Metrics, type ProcessMessage, renderTogether } from '@packhouse/runtime';
import { createLocalSeconds, type LocalSeconds } from '../access/seconds.js';
import type { CountRequest, ToPrimary, ToWorker } from './worker-link.js';

/** Pauses before a worker that ended is replaced: doubled each time, until one ran for a minute. */
const [INITIAL_PAUSE_MS, MAX_PAUSE_MS, STEADY_MS] = [500, 30_000, 60_000];
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
 * Starts the first worker, and the others once it listens, so that what keeps all of them from starting is logged once;
 * replaces those that end. Holds no state but the counts of the current second.
 */
export function superviseWorkers(parts: {
  context: Context;
  cluster: Pick<Cluster, 'fork'>;
  count: number;
  /** To this process's own supervisor. */
  notify(message: ProcessMessage): void;
  /** Called if a worker fails before the gateway listens. */
  exit(exitCode: number): void;
}): Workers {
  const { context, count, notify } = parts;
  const { clock, logger, metrics } = context;
  const seconds = createLocalSeconds(clock);
  const workers = new Set<Worker>();
  const ready = new Set<Worker>();
  const stop = new AbortController();
  let listening = false;
  let allReady = false;
  let pauseMs = INITIAL_PAUSE_MS;
  let emptied = (): void => undefined;
  let begun = (): void => undefined;
  const whenReady = new Promise<void>((resolve) => {
    begun = resolve;
  });

  const send = (worker: Worker, message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => undefined);
  };

  const figures = collectFigures(metrics, workers, send);

  const onReady = (worker: Worker): void => {
    ready.add(worker);
    if (allReady) send(worker, { type: 'all ready' });
    if (allReady || ready.size < count) return;
    allReady = true;
    for (const each of workers) send(each, { type: 'all ready' });
    logger.info({ workers: count }, 'all workers are ready');
    begun();
  };

  const onMessage = (worker: Worker, message: ToPrimary): void => {
    if (message.type === 'count') {
      send(worker, { type: 'counted', verdicts: answerCounts(seconds, message.requests) });
    } else if (message.type === 'figures') figures.receive(message.id, message.figures);
    else if (message.type === 'render') {
      const { id } = message;
      void figures.render().then((text) => send(worker, { type: 'rendered', id, text }));
    } else if (message.type === 'ready') onReady(worker);
    else if (message.type === 'problem') notify(message);
    else if (message.type === 'fatal' && !listening) {
      notify(message);
      parts.exit(message.exitCode);
    } else if (message.type === 'listening' && !listening) {
      listening = true;
      notify(message);
      while (workers.size < count) start();
    }
  };

  const replace = async (startedAt: number): Promise<void> => {
    pauseMs = clock.elapsed() - startedAt >= STEADY_MS ? INITIAL_PAUSE_MS : pauseMs;
    const waitMs = pauseMs;
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    logger.error({ waitMs }, 'a worker of the gateway exited and is restarted');
    await clock.sleep(waitMs, stop.signal).catch(() => undefined);
    if (!stop.signal.aborted) start();
  };

  const start = (): void => {
    const startedAt = clock.elapsed();
    const worker = parts.cluster.fork({ GATEWAY_WORKERS: String(count), METRICS_PORT: '0' });
    workers.add(worker);
    worker.on('message', (message: ToPrimary) => onMessage(worker, message));
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
    render: figures.render,
    ready: whenReady,
    async close() {
      stop.abort();
      const ended = new Promise<void>((resolve) => {
        emptied = resolve;
      });
      for (const worker of workers) send(worker, { type: 'drain' });
      if (workers.size > 0) await ended;
    },
  };
}

/** Counts for a worker, and grants it units to count by itself. */
function answerCounts(
  seconds: LocalSeconds,
  requests: readonly CountRequest[],
): Extract<ToWorker, { type: 'counted' }>['verdicts'] {
  return requests.map(([id, name, limit, cost, before, more]) => {
    if (cost === null) return [id, seconds.peek(name, limit), 0];
    const verdict = seconds.take(name, limit, cost, before);
    // Half of the rest at most, so that the others have some too; never what would be refused.
    const granted = verdict.allowed ? Math.min(more, Math.floor(verdict.remaining / 2)) : 0;
    return [id, granted > 0 ? seconds.take(name, limit, granted) : verdict, granted];
  });
}

/** Collects the metrics of all workers. */
function collectFigures(
  metrics: Pick<Metrics, 'figures'>,
  workers: ReadonlySet<Worker>,
  send: (worker: Worker, message: ToWorker) => void,
): { render(): Promise<string>; receive(id: number, figures: object[]): void } {
  const pending = new Map<number, (figures: object[]) => void>();
  let ids = 0;
  const getFigures = (worker: Worker): Promise<object[]> =>
    new Promise((resolve) => {
      ids += 1;
      const id = ids;
      const end = (figures: object[]): void => {
        clearTimeout(timer);
        pending.delete(id);
        resolve(figures);
      };
      const timer = setTimeout(end, FIGURES_MS, []);
      pending.set(id, end);
      send(worker, { type: 'figures', id });
    });
  return {
    render: async () =>
      renderTogether(await Promise.all([metrics.figures(), ...[...workers].map(getFigures)])),
    receive: (id, figures) => pending.get(id)?.(figures),
  };
}
