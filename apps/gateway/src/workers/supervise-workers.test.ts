import type { Cluster, Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import {
  type Context,
  createLogger,
  createMetrics,
  type ProcessMessage,
  systemClock,
} from '@packhouse/runtime';
import { expect, it, vi } from 'vitest';
import { superviseWorkers } from './supervise-workers.js';
import type { ToPrimary, ToWorker } from './worker-link.js';
import { createWorkerLink } from './worker-link.js';

/** A worker that lives in this process, with the metrics of one. */
function pretendWorker(elapsed: () => number) {
  const primaryEnd = new EventEmitter();
  const workerEnd = new EventEmitter();
  const metrics = createMetrics();
  const heard: ToWorker[] = [];
  const tell = (message: ToPrimary): void => {
    setImmediate(() => primaryEnd.emit('message', JSON.parse(JSON.stringify(message))));
  };
  workerEnd.on('message', (message) => heard.push(message));
  const link = createWorkerLink(Object.assign(workerEnd, { send: tell }), { metrics, clock: { elapsed } });
  const worker = Object.assign(primaryEnd, {
    isConnected: () => true,
    send: (message: ToWorker) => {
      setImmediate(() => workerEnd.emit('message', JSON.parse(JSON.stringify(message))));
    },
  }) as unknown as Worker;
  return { worker, link, tell, heard, metrics, end: () => primaryEnd.emit('exit') };
}

function start(count: number) {
  const workers: ReturnType<typeof pretendWorker>[] = [];
  const forked: unknown[] = [];
  const notified: ProcessMessage[] = [];
  const exits: number[] = [];
  const pauses: { ms: number; over(): void }[] = [];
  let now = 0;
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: {
      ...systemClock,
      elapsed: () => now,
      sleep: (ms) => new Promise((resolve) => void pauses.push({ ms, over: () => resolve(undefined) })),
    },
    signal: new AbortController().signal,
  };
  const cluster = {
    fork: (env: unknown) => {
      const made = pretendWorker(() => now);
      workers.push(made);
      forked.push(env);
      return made.worker;
    },
  } as unknown as Cluster;
  const supervised = superviseWorkers({
    context,
    cluster,
    count,
    notify: (message) => notified.push(message),
    exit: (exitCode) => exits.push(exitCode),
  });
  const at = (index: number) => workers[index] as ReturnType<typeof pretendWorker>;
  const allReady = async (): Promise<void> => {
    at(0).tell({ type: 'listening', port: 4_711 });
    await vi.waitUntil(() => workers.length === count);
    for (const { tell } of workers) tell({ type: 'ready' });
    await supervised.ready;
  };
  const advance = (ms: number): void => {
    now += ms;
  };
  return { supervised, workers, at, forked, notified, exits, pauses, allReady, advance };
}

it('starts the others once the first listens, and is ready when all are', async () => {
  const { supervised, workers, at, forked, notified } = start(3);
  expect(forked).toEqual([{ GATEWAY_WORKERS: '3', METRICS_PORT: '0' }]);
  at(0).tell({ type: 'listening', port: 4_711 });
  await vi.waitUntil(() => workers.length === 3);
  at(1).tell({ type: 'listening', port: 4_711 });
  let ready = false;
  void at(0).link.othersReady.then(() => {
    ready = true;
  });
  at(0).tell({ type: 'ready' });
  at(1).tell({ type: 'ready' });
  expect(await supervised.render()).toContain('\n');
  expect(ready).toBe(false);
  at(2).tell({ type: 'ready' });
  await Promise.all(workers.map(({ link }) => link.othersReady));
  await supervised.ready;
  expect(notified).toEqual([{ type: 'listening', port: 4_711 }]);
});

it('counts the second of a key and of an address for all workers as one', async () => {
  const { at, allReady, advance } = start(2);
  await allReady();
  const keys = [at(0).link.seconds('key'), at(1).link.seconds('key')] as const;
  const verdicts = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (keys[n % 2] as (typeof keys)[0]).take(7, 5, 1)),
  );
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(5);
  expect(await keys[1].peek(7, 5)).toMatchObject({ remaining: 0, limit: 5, window: 'second' });
  // An address of the same name is another thing.
  expect(await at(0).link.seconds('address').take(7, 5, 1)).toMatchObject({ allowed: true, remaining: 4 });
  advance(1_000);
  expect(await keys[0].take(7, 5, 5)).toMatchObject({ allowed: true, remaining: 0 });
  expect(await keys[1].take(7, 5, 1)).toMatchObject({ allowed: false });
});

it('takes a part of a large limit ahead, so that few requests ask, and never more than the limit', async () => {
  const { at, allReady, advance } = start(2);
  await allReady();
  const asked = () => [0, 1].map((index) => at(index).heard.filter(({ type }) => type === 'counted').length);
  const links = [at(0).link.seconds('key'), at(1).link.seconds('key')] as const;
  const spend = async (times: number): Promise<number> => {
    let allowed = 0;
    for (let n = 0; n < times; n += 1) {
      if ((await (links[n % 2] as (typeof links)[0]).take('k', 2_000, 1)).allowed) allowed += 1;
    }
    return allowed;
  };
  expect(await spend(200)).toBe(200);
  expect(asked()).toEqual([10, 10]);
  // All but what the other worker had taken ahead.
  const rest = await spend(3_000);
  expect(200 + rest).toBeLessThanOrEqual(2_000);
  expect(200 + rest).toBeGreaterThanOrEqual(1_980);
  expect(await spend(10)).toBe(0);
  // What was taken ahead ends with its second.
  advance(1_000);
  expect(await links[0].take('k', 2_000, 1)).toMatchObject({ allowed: true });
  advance(1_000);
  expect(await links[1].take('k', 2_000, 2_000)).toMatchObject({ allowed: true, remaining: 0 });
  expect(await links[0].take('k', 2_000, 1)).toMatchObject({ allowed: false });
  // A changed limit is asked for at once.
  expect(await links[0].take('k', 4_000, 1)).toMatchObject({ allowed: true, limit: 4_000 });
});

it('renders the metrics of all as one, asked from inside or outside', async () => {
  const { supervised, at, allReady } = start(2);
  await allReady();
  for (const [index, head] of [
    [0, 10],
    [1, 12],
  ] as const) {
    const { metrics } = at(index);
    metrics.counter('asked_total', 'Asked.').inc(3);
    metrics.gauge('bytes', 'Bytes.').set(100);
    metrics.gauge('head', 'Head.', [], undefined, 'max').set(head);
    metrics.gauge('ok', 'Ok.', [], undefined, 'min').set(index);
    metrics.histogram('took', 'Took.', [], [1, 2]).observe(1.5);
  }
  const text = await supervised.render();
  for (const line of [
    'asked_total 6',
    'bytes 200',
    'head 12',
    'ok 0',
    'took_count 2',
    'took_bucket{le="1"} 0',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(await at(1).link.render()).toBe(text);
});

it('replaces a worker that ended, after pauses that grow until one ran for a minute', async () => {
  const { workers, at, pauses, allReady, advance } = start(2);
  await allReady();
  for (const [index, ms] of [500, 1_000, 2_000].entries()) {
    at(workers.length - 1).end();
    await vi.waitUntil(() => pauses.length === index + 1);
    expect(pauses[index]?.ms).toBe(ms);
    pauses[index]?.over();
    await vi.waitUntil(() => workers.length === index + 3);
  }
  const last = at(4);
  last.tell({ type: 'listening', port: 4_711 });
  last.tell({ type: 'ready' });
  await last.link.othersReady;
  advance(60_000);
  last.end();
  await vi.waitUntil(() => pauses.length === 4);
  expect(pauses[3]?.ms).toBe(500);
});

it('tells all workers to drain, and waits for them', async () => {
  const { supervised, workers, at, pauses, allReady } = start(2);
  await allReady();
  let closed = false;
  const closing = supervised.close().then(() => {
    closed = true;
  });
  await vi.waitUntil(() => workers.every(({ heard }) => heard.some(({ type }) => type === 'drain')));
  at(0).end();
  await new Promise(setImmediate);
  expect(closed).toBe(false);
  at(1).end();
  await closing;
  expect([workers.length, pauses.length]).toEqual([2, 0]);
});

it('is given up, with the reason, where the first worker cannot start', async () => {
  const { workers, at, notified, exits } = start(4);
  const fatal = { type: 'fatal', code: 'PORT_IN_USE', message: 'Port 1 is taken.', exitCode: 69 } as const;
  at(0).tell(fatal);
  await vi.waitUntil(() => exits.length > 0);
  expect([exits, notified, workers.length]).toEqual([[69], [fatal], 1]);
});
