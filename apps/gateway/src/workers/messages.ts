import type { ProcessMessage } from '@packhouse/runtime';
import type { RateVerdict } from '../access/rate-headers.js';

/**
 * A request to count: number, name of what is counted, limit, cost (null: nothing is counted), units counted before, and
 * units that the worker would like to have beside them, to count by itself in this second.
 */
export type CountRequest = [
  id: number,
  name: string,
  limit: number,
  cost: number | null,
  counted: number,
  more: number,
];

/** From a worker to its primary, beside what every process tells its supervisor. */
export type ToPrimary =
  | ProcessMessage
  | { type: 'count'; requests: CountRequest[] }
  /** Of all workers, as text. */
  | { type: 'render'; id: number }
  /** Its own, as asked. */
  | { type: 'figures'; id: number; figures: object[] };

/** From the primary to a worker. */
export type ToWorker =
  | { type: 'counted'; verdicts: [id: number, verdict: RateVerdict, granted: number][] }
  | { type: 'rendered'; id: number; text: string }
  | { type: 'figures'; id: number }
  /** All workers are ready. */
  | { type: 'all ready' }
  | { type: 'drain' };
