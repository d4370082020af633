import { getHeapStatistics } from 'node:v8';
import { bytesSetting, integerSetting, workerSettings } from '@packhouse/runtime';
import { z } from 'zod';

const MEBIBYTE = 1_048_576;

/**
 * Bytes of an answer, and of blocks that are fetched ahead for all networks together, where V8's heap has this limit.
 * It follows the memory of the machine or the container, or `--max-old-space-size`. Parsed, they take about four times
 * as much, and their bytes are beside the heap.
 */
export function heldBytes(heapBytes: number): number {
  return Math.min(64 * MEBIBYTE, Math.floor(heapBytes / 8));
}

/** The environment of an ingester. */
export const ingesterSettings = workerSettings.extend({
  INGEST_CONCURRENCY: integerSetting(
    'windows of each network extracted at a time, 1 to 64 (default 3)',
    1,
    64,
  ).default(3),
  NODE_MAX_BODY: bytesSetting(
    'the largest node answer that is held in memory, e.g. 64MiB (the default, or an eighth of the heap); larger ones are streamed',
  ).default(heldBytes(getHeapStatistics().heap_size_limit)),
  NODE_TIMEOUT_MS: integerSetting(
    'milliseconds to wait for a node, 100 to 600000 (default 30000)',
    100,
    600_000,
  ).default(30_000),
  STAGING_MAX_BYTES: bytesSetting(
    'the disk that staging may take, all networks together, e.g. 20GiB (the default); from then on nothing new is fetched until packing has made room',
  ).default(21_474_836_480),
  DEFLATE: z
    .enum(['kernel', 'zlib'])
    .default('kernel')
    .describe('kernel or zlib: what deflates texts (default kernel, which takes a third of the CPU)'),
  JOBS_KEPT: integerSetting(
    'finished jobs that each queue keeps for dashboards, 0 to 100000 (default 0); any makes a job of the queue dearer',
    0,
    100_000,
  ).default(0),
});
