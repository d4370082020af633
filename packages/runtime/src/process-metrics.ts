import { collectDefaultMetrics } from 'prom-client';
import type { Metrics } from './metrics.js';

/**
 * Adds what every process says of itself: `process_*` (memory, CPU, start time, open files) and `nodejs_*` (event-loop
 * lag, heap, garbage collection), under the names that all programs on Node use.
 */
export function collectProcessMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry });
}
