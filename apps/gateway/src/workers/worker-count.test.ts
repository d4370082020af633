import { parseNetworks } from '@packhouse/networks';
import { isPackhouseError } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { countWorkers, toWorkerNetworks } from './worker-count.js';

const MIB = 1_048_576;
const SETTINGS = {
  GATEWAY_WORKERS: 'cores' as number | 'cores',
  RANGE_CACHE: 128 * MIB,
  FILE_CACHE: 64 * MIB,
  ANSWER_CACHE: 64 * MIB,
  ANSWER_MEMORY: 256 * MIB,
  BODY_MEMORY: 64 * MIB,
  MAX_BODY: MIB,
};
const LARGE = { cores: 8, memoryBytes: 64 * 1_024 * MIB };
const networks = (maxInFlight: number) =>
  parseNetworks(
    `networks: [{id: a, family: evm, chainId: 1, upstreams: [{name: n1, url: 'http://127.0.0.1:1', maxInFlight: ${maxInFlight}}, {name: n2, url: 'http://127.0.0.1:2', maxInFlight: 100}]}]`,
    { source: 'test', env: {} },
  );

it('is one worker for each core, unless something is not enough for so many, which is named', () => {
  expect(countWorkers(SETTINGS, networks(16), LARGE)).toEqual({ count: 8, reason: null });
  const few = countWorkers(SETTINGS, networks(3), LARGE);
  expect(few).toEqual({ count: 3, reason: expect.stringContaining('maxInFlight of n1 of a is 3') });
  const small = countWorkers(SETTINGS, networks(16), { cores: 8, memoryBytes: 1_400 * MIB });
  expect(small).toEqual({ count: 2, reason: expect.stringContaining('memory') });
  const tiny = countWorkers(SETTINGS, networks(16), { cores: 8, memoryBytes: 100 * MIB });
  expect(tiny.count).toBe(1);
  const bodies = countWorkers({ ...SETTINGS, MAX_BODY: 4 * MIB }, networks(16), LARGE);
  expect(bodies).toEqual({ count: 4, reason: expect.stringContaining('BODY_MEMORY') });
});

it('is the number that is set, or refused by name', () => {
  expect(countWorkers({ ...SETTINGS, GATEWAY_WORKERS: 12 }, networks(16), LARGE).count).toBe(12);
  // A single one takes what a gateway always took.
  const one = { ...SETTINGS, GATEWAY_WORKERS: 1, MAX_BODY: 64 * MIB };
  expect(countWorkers(one, networks(1), LARGE).count).toBe(1);
  expect(() => countWorkers({ ...SETTINGS, GATEWAY_WORKERS: 4 }, networks(3), LARGE)).toThrow(
    expect.toSatisfy(
      (error) =>
        isPackhouseError(error, 'SETTINGS_INVALID') &&
        error.message.startsWith('GATEWAY_WORKERS is 4, expected at most 3: maxInFlight of n1 of a is 3'),
    ),
  );
});

it('divides what may be in flight, never beyond it, and refuses a changed file that cannot be divided', () => {
  const [network] = toWorkerNetworks(networks(16), 3);
  expect(network?.upstreams.map(({ maxInFlight }) => maxInFlight)).toEqual([5, 33]);
  expect(network?.rpc.maxCallsInFlight).toBe(22);
  expect(toWorkerNetworks(networks(1), 1)).toEqual(networks(1));
  expect(() => toWorkerNetworks(networks(2), 3)).toThrow('maxInFlight of n1 of a is 2, expected at least 3');
});
