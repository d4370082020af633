/** Live blocks that come at the full pace: an hour of them, at one every 3 s. */
const FULL_PACE_BLOCKS = 1_200;

/**
 * How long to wait before the next live block, in milliseconds.
 *
 * A restart mines the whole chain again, at some 200 blocks a second. So the longer the chain, the slower it
 * grows: after a day it has about 8,000 blocks and a new one every 20 s, after a week 22,000 and one a minute.
 */
export function pauseBeforeNextMs(liveBlocks: number, intervalMs: number): number {
  return intervalMs * Math.max(1, liveBlocks / FULL_PACE_BLOCKS);
}
