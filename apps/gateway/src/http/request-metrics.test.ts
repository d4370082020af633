import { createMetrics } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createBoundedLabel, createRequestMetrics } from './request-metrics.js';

it('adds requests up by route, network, kind, status and public prefix, over several renderings', async () => {
  const metrics = createMetrics();
  const count = createRequestMetrics(metrics);
  const exchange = { route: 'pointer', network: 'n', kind: 'logs', prefix: 'ph_a' };
  count(exchange, 200, 0.0004, 100);
  count(exchange, 200, 0.004, 50);
  await metrics.render();
  count(exchange, 404, 60, 7);
  const text = await metrics.render();
  const place = 'route="pointer",network="n",kind="logs"';
  for (const line of [
    `packhouse_gateway_requests_total{${place},status="200",key="ph_a"} 2`,
    `packhouse_gateway_requests_total{${place},status="404",key="ph_a"} 1`,
    `packhouse_gateway_sent_bytes_total{${place}} 157`,
    `packhouse_gateway_request_seconds_bucket{${place},le="0.0005"} 1`,
    `packhouse_gateway_request_seconds_bucket{${place},le="0.0025"} 1`,
    `packhouse_gateway_request_seconds_bucket{${place},le="0.005"} 2`,
    `packhouse_gateway_request_seconds_bucket{${place},le="30"} 2`,
    `packhouse_gateway_request_seconds_bucket{${place},le="+Inf"} 3`,
    `packhouse_gateway_request_seconds_count{${place}} 3`,
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/request_seconds_sum\{.*\} 60\.0044/);
});

it('tells so many keys apart and no more', () => {
  const label = createBoundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'd', ''].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', '']);
});
