import { expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

it('renders what was counted, in the text form of Prometheus', async () => {
  const metrics = createMetrics();
  metrics.counter('packhouse_blocks_total', 'Blocks', ['network']).inc({ network: 'demo' }, 3);
  metrics.gauge('packhouse_head_number', 'Head').set(7);
  metrics.histogram('packhouse_job_seconds', 'Jobs', [], [1, 5]).observe(2);
  const text = await metrics.render();
  expect(text).toContain('packhouse_blocks_total{network="demo"} 3');
  expect(text).toContain('packhouse_head_number 7');
  expect(text).toContain('packhouse_job_seconds_bucket{le="5"} 1');
  expect(metrics.contentType).toContain('text/plain');
});

it('gives the same metric to everybody who asks by name', () => {
  const metrics = createMetrics();
  expect(metrics.counter('packhouse_a_total', 'A')).toBe(metrics.counter('packhouse_a_total', 'A'));
});

it('shares nothing with another registry', async () => {
  createMetrics().counter('packhouse_a_total', 'A').inc();
  expect(await createMetrics().render()).not.toContain('packhouse_a_total');
});

it('reads a gauge at the moment it is rendered', async () => {
  const metrics = createMetrics();
  let open = 1;
  metrics.gauge('packhouse_open', 'Open', ['state'], (gauge) => gauge.set({ state: 'used' }, open));
  expect(await metrics.render()).toContain('packhouse_open{state="used"} 1');
  open = 5;
  expect(await metrics.render()).toContain('packhouse_open{state="used"} 5');
});
