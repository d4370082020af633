/** How the reason of a hole is shown. */
interface Reason {
  label: string;
  /** For those who cannot tell the colours apart. */
  letter: string;
  meaning: string;
  /** Whether it stays until an operator acts. */
  acts: boolean;
  /** Its colour: thirteen could not be told apart by everybody. */
  group: ReasonGroup;
}

/** The colours of holes, with what they have in common; the names are those of the stylesheet. */
export const REASON_GROUPS = {
  broken: 'Needs action',
  held: 'Held',
  queue: 'Waiting',
  working: 'In progress',
  quiet: 'Not due',
} as const;
type ReasonGroup = keyof typeof REASON_GROUPS;

/** The reasons of holes as the console names them, the worst first. */
export const REASONS: Readonly<Record<string, Reason>> = {
  quarantined: {
    label: 'Quarantined',
    letter: 'Q',
    meaning: 'failed its checks, or no upstream has it',
    acts: true,
    group: 'broken',
  },
  halted: { label: 'Halted', letter: 'H', meaning: 'stopped by an alarm', acts: true, group: 'broken' },
  throttled: {
    label: 'Throttled (staging full)',
    letter: 'B',
    meaning: 'fetching waits for packing',
    acts: true,
    group: 'held',
  },
  paused: { label: 'Paused', letter: 'P', meaning: 'its backfill is paused', acts: true, group: 'held' },
  cancelled: {
    label: 'Cancelled',
    letter: 'C',
    meaning: 'its backfill was cancelled',
    acts: true,
    group: 'held',
  },
  waiting: { label: 'Waiting', letter: 'W', meaning: 'not scheduled yet', acts: false, group: 'queue' },
  queued: { label: 'Queued', letter: 'U', meaning: 'waiting for a worker', acts: false, group: 'queue' },
  fetching: { label: 'Fetching', letter: 'F', meaning: 'being fetched', acts: false, group: 'working' },
  staged: {
    label: 'Staged',
    letter: 'S',
    meaning: 'fetched, waiting for a full bundle',
    acts: false,
    group: 'working',
  },
  packing: { label: 'Packing', letter: 'K', meaning: 'fetched, being packed', acts: false, group: 'working' },
  'not-requested': {
    label: 'Not requested',
    letter: 'N',
    meaning: 'in no backfill',
    acts: false,
    group: 'quiet',
  },
  'not-finalized': {
    label: 'Not finalized yet',
    letter: 'T',
    meaning: 'published after finality',
    acts: false,
    group: 'quiet',
  },
  'not-produced': {
    label: 'Not produced yet',
    letter: 'A',
    meaning: 'above the head',
    acts: false,
    group: 'quiet',
  },
};
