import type { RangeReport, WaitReason } from '@packhouse/pipeline';

type Wait = RangeReport['waits'][number];

/** Says what a range waits for in a sentence. */
export function withMessage(wait: Wait): Wait & { message: string } {
  return { ...wait, message: MESSAGES[wait.reason](wait) };
}

const untilText = ({ until }: Wait): string => (until === null ? '' : ` until ${until.toISOString()}`);

const MESSAGES: Readonly<Record<WaitReason, (wait: Wait) => string>> = {
  paused: () => 'it is paused; `packhouse backfill resume` continues it.',
  cancelled: () => 'it is cancelled.',
  'no-head': () => 'no head of the network is known yet: no ingester reached a node.',
  'window-closed': (wait) =>
    wait.until === null
      ? 'its windows cannot be read here; `packhouse backfill set` replaces them.'
      : `its windows are closed${untilText(wait)}.`,
  'max-requests': () =>
    'it sent as many requests as it may; `packhouse backfill set --max-requests` allows more.',
  budget: (wait) =>
    `the budget of ${wait.provider} is used up for backfills${untilText(wait)}; see \`packhouse budget list\`.`,
  halted: () => 'the chain differs below finality; see `packhouse alarms list`.',
  'staging-full': () => 'staging is full: fetching waits for packing.',
  'no-ingester': () => 'no ingester of the network was seen in the last 15 s, or all drain.',
  'fork-unknown': (wait) =>
    `the rules of a fork are not known; one block is tried again${untilText(wait)}.`.replace(
      ' until ',
      ' at ',
    ),
  queued: () => 'its next blocks are in the queue, behind those that run.',
  behind: ({ behind }) => `backfill ${behind} has a higher priority.`,
  planned: () => 'its next blocks are planned in turn with those of other backfills.',
  quarantined: (wait) =>
    `all that is left is in quarantine${untilText(wait)}; see \`packhouse quarantine list\`.`,
  packing: () => 'all is fetched; what is staged waits for packing, or for the blocks that fill its bundle.',
  'not-final': () => 'what is left is not final yet.',
};
