import { tmpdir } from 'node:os';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect, test } from 'vitest';
import { createDiskGauge } from './disk-gauge.js';

async function rendered(objectStore: string): Promise<string> {
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
  createDiskGauge(context, objectStore);
  return context.metrics.render();
}

test('tells the size of the disk under a folder and what of it is free', async () => {
  const text = await rendered(tmpdir());
  const value = (what: string): number =>
    Number(new RegExp(`^packhouse_store_disk_bytes\\{what="${what}"\\} (\\d+)`, 'm').exec(text)?.[1]);
  expect(value('total')).toBeGreaterThan(0);
  expect(value('free')).toBeLessThanOrEqual(value('total'));
});

test('tells nothing of an S3 store, nor of a folder that is not there', async () => {
  expect(await rendered('s3://bucket/prefix')).not.toContain('packhouse_store_disk_bytes');
  expect(await rendered('/nowhere/at/all')).not.toContain('packhouse_store_disk_bytes{');
});
