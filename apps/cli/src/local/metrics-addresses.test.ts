import { expect, test } from 'vitest';
import { createMetricsAddresses } from './metrics-addresses.js';
import type { Reporter } from './report.js';

function make(env: Record<string, string>) {
  const said: string[] = [];
  const log = (line: string) => void said.push(line);
  const reporter = { event: () => undefined, log } as unknown as Reporter;
  return { addresses: createMetricsAddresses({ env }, reporter), said };
}

test('without METRICS_PORT any free port is taken, open to this machine only', () => {
  const { addresses } = make({});
  expect(addresses.env(0)).toEqual({ METRICS_PORT: 'any', METRICS_HOST: '127.0.0.1' });
  addresses.heard('packer', 4002);
  addresses.heard('ingester', 4001);
  addresses.heard('gateway', 4003);
  expect(addresses.all()).toEqual({
    gateway: 'http://127.0.0.1:4003/metrics',
    ingester: 'http://127.0.0.1:4001/metrics',
    packer: 'http://127.0.0.1:4002/metrics',
  });
});

test('METRICS_PORT names the first of three ports, and 0 means none', () => {
  const { addresses } = make({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' });
  expect([0, 1, 2].map(addresses.env)).toEqual([
    { METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' },
    { METRICS_PORT: '9465', METRICS_HOST: '0.0.0.0' },
    { METRICS_PORT: '9466', METRICS_HOST: '0.0.0.0' },
  ]);
  expect(make({ METRICS_PORT: '0' }).addresses.all()).toEqual({});
  expect(make({ METRICS_PORT: '0' }).addresses.env(1).METRICS_PORT).toBe('0');
});

test('a port that changes with a restart is said', () => {
  const { addresses, said } = make({});
  addresses.heard('packer', 4002);
  addresses.heard('packer', 4002);
  expect(said).toEqual(['Metrics of the packer: http://127.0.0.1:4002/metrics']);
  addresses.heard('packer', 4007);
  expect(said[1]).toBe('Metrics of the packer: http://127.0.0.1:4007/metrics');
});
