import type { BackfillProgress, WaitReason } from '@packhouse/pipeline';

type Wait = BackfillProgress['waits'][number];

/** Adds the sentence. */
export function addMessage(wait: Wait, network: string): Wait & { message: string } {
  return { ...wait, message: MESSAGES[wait.reason](wait, network) };
}

const formatUntil = ({ until }: Wait): string => (until === null ? '' : ` until ${until.toISOString()}`);

const MESSAGES: Readonly<Record<WaitReason, (wait: Wait, network: string) => string>> = {
  'nodes-silent': ({ since }, network) =>
    `No node of ${network} has answered since ${since?.toISOString()}. See \`packhouse nodes list\`.`,
  paused: () => 'Paused. Run `packhouse backfill resume`.',
  cancelled: () => 'Cancelled.',
  'no-head': () => 'The head is unknown: no ingester has reached a node.',
  'window-closed': (wait) =>
    wait.until === null
      ? 'Its time windows are invalid here. Replace them with `packhouse backfill set`.'
      : `Its time windows are closed${formatUntil(wait)}.`,
  'max-requests': () =>
    'Its limit of requests is reached. Raise it with `packhouse backfill set --max-requests`.',
  budget: (wait) =>
    `Throttled by the budget of ${wait.provider}${formatUntil(wait)}. See \`packhouse budget list\`.`,
  halted: () => 'Halted: the chain changed below finality. See `packhouse alarms list`.',
  'staging-full': () => 'Throttled (staging full): fetching waits for packing.',
  'no-ingester': () => 'No ingester of this network reported in the last 15 s, or all are draining.',
  'fork-unknown': (wait) =>
    `Unknown fork rules. The next retry of one block is ${wait.until === null ? 'due' : `at ${wait.until.toISOString()}`}.`,
  queued: () => 'Its next blocks are queued.',
  behind: ({ behind }) => `Backfill ${behind} has a higher priority.`,
  planned: () => 'It takes turns with other backfills.',
  quarantined: (wait) =>
    `All remaining blocks are quarantined${formatUntil(wait)}. See \`packhouse quarantine list\`.`,
  packing: () => 'All blocks are fetched. Staged blocks wait for packing or for a full bundle.',
  'not-final': () => 'The remaining blocks are not finalized yet.',
};
