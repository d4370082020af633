import { expect, it } from 'vitest';
import { cpuOutcomes } from './cpu-outcomes.js';

const toReport = (cpuMicros?: number) => ({
  requestsPerSecond: 1,
  bytesPerSecond: 1,
  p50Ms: 1,
  p99Ms: 1,
  errors: 0,
  ...(cpuMicros === undefined ? {} : { cpuMicros }),
});

it('has the median of the rounds beside that of the yardstick', () => {
  const yardstick = { name: 'nginx', reports: [10, 12, 11].map(toReport) };
  const [outcome] = cpuOutcomes('downloads', [30, 20, 40].map(toReport), yardstick);
  expect(outcome).toMatchObject({
    name: 'downloads: CPU of a request',
    value: 30,
    unit: 'us',
    yardstick: { name: 'nginx', value: 11, unit: 'us' },
  });
  expect(outcome).toHaveProperty('note', expect.stringContaining('least of 3 rounds: 20.0 us'));
});

it('has nothing where CPU was not counted', () => {
  expect(cpuOutcomes('x', [toReport(), toReport(5)], { name: 'y', reports: [toReport(5)] })).toEqual([]);
});
