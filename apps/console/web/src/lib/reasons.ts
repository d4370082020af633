/** How the reason of a hole is shown. */
interface Reason {
  /** Stands for it where colours do not tell. */
  letter: string;
  meaning: string;
  /** Whether it stays as it is until somebody acts. */
  acts: boolean;
}

/** The reasons of holes as the console names them, the worst first. */
export const REASONS: Readonly<Record<string, Reason>> = {
  quarantined: { letter: 'Q', meaning: 'failed its checks, or no node has it', acts: true },
  halted: { letter: 'H', meaning: 'halted by an alarm', acts: true },
  'held-back': { letter: 'B', meaning: 'held back: staging is full', acts: true },
  paused: { letter: 'P', meaning: 'its backfill is paused', acts: true },
  cancelled: { letter: 'C', meaning: 'its backfill was cancelled', acts: true },
  waiting: { letter: 'W', meaning: 'waits for its turn', acts: false },
  queued: { letter: 'U', meaning: 'waits for a worker', acts: false },
  fetching: { letter: 'F', meaning: 'is being fetched', acts: false },
  staged: { letter: 'S', meaning: 'is here, waits for a full bundle', acts: false },
  packing: { letter: 'K', meaning: 'is here, is being packed', acts: false },
  'not-wanted': { letter: 'N', meaning: 'nobody asked for it', acts: false },
  'not-finalized': { letter: 'T', meaning: 'is not final yet', acts: false },
  'beyond-head': { letter: 'A', meaning: 'the chain is not there yet', acts: false },
};
