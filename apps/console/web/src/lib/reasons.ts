/** How the reason of a hole is shown. */
interface Reason {
  label: string;
  /** For those who cannot tell the colours apart. */
  letter: string;
  meaning: string;
  /** Whether it stays until an operator acts. */
  acts: boolean;
}

/** The reasons of holes as the console names them, the worst first. */
export const REASONS: Readonly<Record<string, Reason>> = {
  quarantined: {
    label: 'Quarantined',
    letter: 'Q',
    meaning: 'failed its checks, or no upstream has it',
    acts: true,
  },
  halted: { label: 'Halted', letter: 'H', meaning: 'stopped by an alarm', acts: true },
  throttled: {
    label: 'Throttled (staging full)',
    letter: 'B',
    meaning: 'fetching waits for packing',
    acts: true,
  },
  paused: { label: 'Paused', letter: 'P', meaning: 'its backfill is paused', acts: true },
  cancelled: { label: 'Cancelled', letter: 'C', meaning: 'its backfill was cancelled', acts: true },
  waiting: { label: 'Waiting', letter: 'W', meaning: 'not scheduled yet', acts: false },
  queued: { label: 'Queued', letter: 'U', meaning: 'waiting for a worker', acts: false },
  fetching: { label: 'Fetching', letter: 'F', meaning: 'being fetched', acts: false },
  staged: { label: 'Staged', letter: 'S', meaning: 'fetched, waiting for a full bundle', acts: false },
  packing: { label: 'Packing', letter: 'K', meaning: 'fetched, being packed', acts: false },
  'not-requested': { label: 'Not requested', letter: 'N', meaning: 'in no backfill', acts: false },
  'not-finalized': {
    label: 'Not finalized yet',
    letter: 'T',
    meaning: 'published after finality',
    acts: false,
  },
  'not-produced': { label: 'Not produced yet', letter: 'A', meaning: 'above the head', acts: false },
};
