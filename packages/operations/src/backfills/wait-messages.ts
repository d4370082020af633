import type { Backfill } from '@packhouse/database';
import type { BackfillProgress, WaitReason } from '@packhouse/report';

type Wait = BackfillProgress['waits'][number];

/** Adds the sentence. */
export function addMessage(wait: Wait, backfill: Backfill): Wait & { message: string } {
  return { ...wait, message: MESSAGES[wait.reason](wait, backfill) };
}

const formatUntil = ({ until }: Wait): string => (until === null ? '' : ` until ${until.toISOString()}`);
const formatSince = ({ since }: Wait): string => (since === undefined ? '' : ` since ${since.toISOString()}`);

/** Who stopped it, since when, and why. */
function formatStop({ stopped }: Backfill, wait: Wait): string {
  if (stopped === null) return '.';
  return ` by ${stopped.actor}${formatSince(wait)}${stopped.reason === null ? '' : ` (${stopped.reason})`}.`;
}

const MESSAGES: Readonly<Record<WaitReason, (wait: Wait, backfill: Backfill) => string>> = {
  'nodes-silent': (wait, { network }) =>
    `No node of ${network} has answered${formatSince(wait)}. See \`packhouse nodes list\`.`,
  paused: (wait, backfill) => `Paused${formatStop(backfill, wait)} Run \`packhouse backfill resume\`.`,
  cancelled: (wait, backfill) => `Cancelled${formatStop(backfill, wait)}`,
  'no-head': () => 'The head is unknown: no ingester has reached a node.',
  'window-closed': (wait) =>
    wait.until === null
      ? 'Its time windows are invalid here. Replace them with `packhouse backfill set`.'
      : `Its time windows are closed${formatUntil(wait)}.`,
  'max-requests': () =>
    'Its limit of requests is reached. Raise it with `packhouse backfill set --max-requests`.',
  budget: (wait) =>
    `Throttled by the budget of ${wait.provider}${formatSince(wait)}${formatUntil(wait)}. See \`packhouse budget list\`.`,
  halted: (wait) =>
    `Halted${formatSince(wait)}: the chain changed below finality. See \`packhouse alarms list\`.`,
  'staging-full': (wait) => `Throttled (staging full)${formatSince(wait)}: fetching waits for packing.`,
  'no-ingester': (wait) =>
    `No ingester of this network takes jobs${formatSince(wait)}: none runs, or all are draining. See \`packhouse workers list\`.`,
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
