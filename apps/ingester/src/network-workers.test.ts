import { type Network, parseNetworks } from '@packhouse/networks';
import type { Job } from '@packhouse/queue';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { beforeEach, expect, test } from 'vitest';
import { createNetworkWorkers } from './network-workers.js';

/** What happened to the workers, in order: `make main 1`, with the chain id. */
let log: string[];
let stop: AbortController;
let metrics: ReturnType<typeof createMetrics>;
let workers: ReturnType<typeof createNetworkWorkers>;
/** Ends the running job of each worker. */
let ends: Map<string, () => void>;
let refused: string | null;

beforeEach(() => {
  [log, ends, refused] = [[], new Map(), null];
  stop = new AbortController();
  metrics = createMetrics();
  const logger = createLogger({ name: 'test', level: 'silent' });
  const context = { logger, metrics, clock: systemClock, signal: stop.signal };
  const healthy = metrics.gauge('packhouse_upstream_healthy', 'test', ['network', 'upstream']);
  workers = createNetworkWorkers(context, async ({ id, chainId, upstreams }) => {
    const name = `${id} ${chainId}`;
    if (id === refused) throw new Error(`no worker of ${id}`);
    log.push(`make ${name}`);
    for (const { name: upstream } of upstreams) healthy.set({ network: id, upstream }, 1);
    return {
      lead: (until) =>
        new Promise((resolve) => {
          log.push(`lead ${name}`);
          until.addEventListener('abort', () => {
            log.push(`leave ${name}`);
            resolve();
          });
        }),
      ingest: ({ firstBlock }) =>
        new Promise((resolve, reject) => {
          log.push(`job of ${name}`);
          ends.set(name, () => (firstBlock === 0 ? resolve() : reject(new Error('it fails'))));
        }),
      wake: () => undefined,
      close: async () => void log.push(`close ${name}`),
    };
  });
});

/** Networks by name and chain id: `main 1`; `main 1 off` has no bundles. */
function getNetworks(...names: string[]): Network[] {
  const networks = names.map((name) => {
    const [id, chainId, off] = name.split(' ');
    const upstreams = [{ name: `node-${chainId}`, url: 'http://127.0.0.1:9' }];
    const bundles = { enabled: off === undefined };
    return { id, family: 'evm', chainId: Number(chainId), upstreams, bundles };
  });
  return parseNetworks(JSON.stringify({ networks }), { source: 'test', env: {} });
}

function toJob(network: string, firstBlock = 0): Job<'ingest'> {
  const payload = { network, firstBlock, lastBlock: 9, kinds: ['blocks'] as const };
  return { id: `${network}.${firstBlock}`, payload, attempt: 1, signal: stop.signal };
}

const replace = async (...names: string[]): Promise<string[]> => {
  log.length = 0;
  await workers.replace(getNetworks(...names));
  // What is closed after its jobs is closed by now if there are none.
  await new Promise(setImmediate);
  return [...log];
};
const told = async (): Promise<string[]> =>
  [...(await metrics.render()).matchAll(/healthy\{(.*)\} 1/g)].map(([, labels]) => labels as string);

test('a new network is led, one that goes is closed with its gauges, and an unchanged one is left alone', async () => {
  expect(await replace('main 1', 'side 2 off')).toEqual(['make main 1', 'lead main 1']);
  expect(await replace('main 1', 'side 2')).toEqual(['make side 2', 'lead side 2']);
  expect(workers.networks()).toEqual(['main', 'side']);
  expect(await replace('side 2')).toEqual(['leave main 1', 'close main 1']);
  expect(workers.networks()).toEqual(['side']);
  expect(await told()).toEqual(['network="side",upstream="node-2"']);
  expect(await replace('side 2 off')).toEqual(['leave side 2', 'close side 2']);
  expect(workers.networks()).toEqual([]);
  expect(await told()).toEqual([]);
});

test.each([
  ['ends', 0],
  ['fails', 5],
])(
  'a job that %s is run to its end by the worker it began with, and new ones by the next',
  async (_, start) => {
    await replace('main 1');
    const first = workers.ingest(toJob('main', start)).catch((error: Error) => error.message);
    expect(await replace('main 3')).toEqual(['make main 3', 'leave main 1', 'lead main 3']);
    const second = workers.ingest(toJob('main'));
    expect(log.at(-1)).toBe('job of main 3');
    ends.get('main 1')?.();
    expect(await first).toBe(start === 0 ? undefined : 'it fails');
    await expect.poll(() => log.at(-1)).toBe('close main 1');
    expect(await told()).toEqual(['network="main",upstream="node-3"']);
    ends.get('main 3')?.();
    await second;
  },
);

test('a network that goes while its job runs takes no other, and is closed after it', async () => {
  await replace('main 1');
  const job = workers.ingest(toJob('main'));
  expect(await replace('main 1 off')).toEqual(['leave main 1']);
  await expect(workers.ingest(toJob('main'))).rejects.toMatchObject({ code: 'NETWORK_UNKNOWN' });
  ends.get('main 1')?.();
  await job;
  await expect.poll(() => log).toEqual(['leave main 1', 'close main 1']);
});

test('if a worker cannot be made nothing changes, and those made for the change are closed', async () => {
  await replace('main 1');
  refused = 'side';
  await expect(replace('main 3', 'side 2')).rejects.toThrow('no worker of side');
  expect(log).toEqual(['make main 3', 'close main 3']);
  expect(workers.networks()).toEqual(['main']);
  const job = workers.ingest(toJob('main'));
  expect(log.at(-1)).toBe('job of main 1');
  ends.get('main 1')?.();
  await job;
});

test('a change that comes while the process ends starts nothing, and closing waits for the running jobs', async () => {
  await replace('main 1');
  const job = workers.ingest(toJob('main'));
  stop.abort(new Error('the process ends'));
  await expect(replace('main 3')).rejects.toThrow('the process ends');
  const closed = workers.close().then(() => log.push('closed'));
  await new Promise(setImmediate);
  expect(log.slice(2)).toEqual(['leave main 1']);
  ends.get('main 1')?.();
  await Promise.all([job, closed]);
  expect(log.slice(3)).toEqual(['close main 1', 'closed']);
});
