import type { HoleReason } from '@packhouse/database';

/** What is known of holes of one reason. */
interface ReasonFacts {
  /** What it means, and what the hole needs, as a clause. */
  needs: string;
  /** Its blocks are not fetched yet. */
  toFetch?: true;
  /** It ends with nothing but time. */
  comes?: true;
}

/**
 * The reasons of holes, the worst first: what stays as it is until somebody acts, what comes by itself, and what nobody
 * asked for or no chain has yet.
 */
const REASONS: Readonly<Record<HoleReason, ReasonFacts>> = {
  quarantined: { needs: 'failed its checks, or no node has it; retried automatically', toFetch: true },
  halted: {
    needs: 'fetched when the alarm about a reorganisation below finality is cleared',
    toFetch: true,
    comes: true,
  },
  throttled: { needs: 'fetched when packing has made room: staging is full', toFetch: true, comes: true },
  paused: { needs: 'its backfill is paused: resume it', toFetch: true },
  cancelled: { needs: 'its backfill was cancelled: add another one', toFetch: true },
  waiting: { needs: 'requested, not scheduled yet', toFetch: true, comes: true },
  queued: { needs: 'queued, waiting for a worker', toFetch: true, comes: true },
  fetching: { needs: 'being fetched', toFetch: true, comes: true },
  staged: { needs: 'staged, waiting for a full bundle', comes: true },
  packing: { needs: 'staged, being packed', comes: true },
  'not-requested': { needs: 'in no backfill: add one', toFetch: true },
  'not-finalized': {
    needs: 'not finalized yet: in a file of one block until then, in a bundle afterwards',
  },
  'not-produced': { needs: 'not produced yet' },
};

export const WORST_FIRST = Object.keys(REASONS) as HoleReason[];

export const getNeeds = (reason: HoleReason): string => REASONS[reason].needs;

/** Final blocks in these states are not fetched yet. */
export const TO_FETCH = WORST_FIRST.filter((reason) => REASONS[reason].toFetch);

/** Reasons of holes that end with nothing but time. */
export const COMES = WORST_FIRST.filter((reason) => REASONS[reason].comes);

/** Whether the blocks are wanted now, and exist. */
export const isHole = (reason: HoleReason): boolean => reason === 'quarantined' || COMES.includes(reason);
