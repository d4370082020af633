import type { BlockRange, Kind } from '@packhouse/chain';

/** Reasons why a block of a kind is not published; the pipeline explains how each is resolved. */
export const HOLE_REASONS = [
  'not-requested',
  'cancelled',
  'paused',
  'waiting',
  'throttled',
  'halted',
  'queued',
  'fetching',
  'quarantined',
  'staged',
  'packing',
  'not-finalized',
  'not-produced',
] as const;

/** The reason why a block of a kind is not published. */
export type HoleReason = (typeof HOLE_REASONS)[number];

/** State of the queue; used only to tell `queued`, `fetching` and `packing` from `waiting` and `staged`. */
export interface QueueHints {
  windows: readonly (BlockRange & { kinds: readonly Kind[]; running: boolean })[];
  /** Kinds that are being packed. */
  packing: readonly Kind[];
}
