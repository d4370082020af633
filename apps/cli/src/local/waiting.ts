import type { NetworkStatus } from '@packhouse/pipeline';
import { formatCount } from '../format.js';
import type { Reporter } from './report.js';

const REPEAT_MS = 60_000;

/**
 * Says what `--once` waits for where its last block is not final yet (only final blocks are published): at the first
 * look and once a minute.
 */
export function createWaiting(
  reporter: Reporter,
  now: () => number,
): (status: Pick<NetworkStatus, 'head' | 'finalized'>, to: number) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return ({ head, finalized }, to) => {
    if (head === null || (finalized !== null && finalized >= to) || now() - saidAt < REPEAT_MS) return;
    saidAt = now();
    const final =
      finalized === null || finalized < 0
        ? 'no block is final yet'
        : `block ${formatCount(finalized)} is the newest final one`;
    reporter.event(
      { event: 'waiting', block: to, head, finalized },
      `Waiting for block ${formatCount(to)} to be final: the chain's head is block ${formatCount(head)}, ${final}.`,
    );
  };
}
