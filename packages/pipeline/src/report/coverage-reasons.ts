import type { Hole, HoleReason } from '@packhouse/database';

/** What each reason means and what a hole needs, as a clause about it. */
export const HOLE_NEEDS: Readonly<Record<HoleReason, string>> = {
  'not-wanted': 'nobody asked for it: it needs a backfill',
  cancelled: 'its backfill was cancelled: it needs another one',
  paused: 'its backfill is paused and has to be resumed',
  waiting: 'it is wanted, and its turn to be fetched comes',
  'held-back': 'it is wanted, and fetched when packing has made room in the full staging area',
  halted:
    'it is wanted, and nothing is fetched until the alarm about a reorganisation below finality is settled',
  queued: 'it waits for a worker to fetch it',
  fetching: 'a worker is fetching it',
  quarantined: 'it failed its checks or no node gives it, and is tried again by itself',
  staged: 'it is here and waits for a full bundle',
  packing: 'it is here, and a packer is at it',
  'not-finalized': 'it is not final yet: a file a block until then, a bundle after it',
  'beyond-head': 'the chain is not there yet',
};

/** What a hole needs, with cause and next try where it is quarantined. */
export function holeNeeds({ reason, quarantine }: Pick<Hole, 'reason' | 'quarantine'>): string {
  if (quarantine === null) return HOLE_NEEDS[reason];
  const { cause, attempts, nextTry } = quarantine;
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return `it failed ${times} with ${cause}, and the next try is due at ${nextTry.toISOString()}`;
}
