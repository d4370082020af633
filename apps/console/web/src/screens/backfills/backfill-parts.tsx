import type { Answer } from '../../lib/answers.js';
import { formatCount, formatTime } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { ActionButton } from '../../parts/changes.js';
import { Meter } from '../../parts/meter.js';

export type BackfillReport = Answer<'backfills/progress'>[number];
export type Range = BackfillReport['backfill'];

export const formatRange = ({ from, to }: Pick<Range, 'from' | 'to'>): string =>
  to === null
    ? `from ${formatCount(from)}, following the head`
    : `${formatCount(from)} to ${formatCount(to)}`;

/** The terms as they were read: with them, a change does not overwrite that of another operator. */
export function getExpected(range: Range): object {
  const { state, priority, owner, weight, windows, deadline, maxRequests } = range;
  return { state, priority, owner, weight, windows, deadline, maxRequests };
}

/** Blocks of all kinds together. */
function getTotals({ kinds }: BackfillReport): { published: number; all: number } {
  let [published, all] = [0, 0];
  for (const kind of kinds) {
    published += kind.published;
    all += kind.published + Object.values(kind.missing).reduce((sum, blocks) => sum + blocks, 0);
  }
  return { published, all };
}

/** Blocks of all kinds by what the map calls them. */
function getParts({ kinds }: BackfillReport): Record<string, number> {
  const parts: Record<string, number> = { published: 0, working: 0, queue: 0, held: 0, broken: 0, quiet: 0 };
  for (const { published, missing } of kinds) {
    parts.published = (parts.published ?? 0) + published;
    for (const [reason, blocks] of Object.entries(missing)) {
      const group = REASONS[reason]?.group ?? 'queue';
      parts[group] = (parts[group] ?? 0) + blocks;
    }
  }
  return parts;
}

/** A bar, the rate and the ETA. */
export function Progress({ report, state }: { report: BackfillReport | undefined; state: Range['state'] }) {
  if (report === undefined) return <span class="faint">{state === 'cancelled' ? '' : '…'}</span>;
  const { published, all } = getTotals(report);
  const percent = all === 0 ? 0 : Math.floor((published / all) * 1_000) / 10;
  const rate = report.rate === null ? null : `${report.rate.blocksPerSecond.toFixed(1)} blocks/s`;
  const eta = report.forecast === null ? null : `ETA ${formatTime(report.forecast)}`;
  return (
    <>
      <span class="actions">
        <Meter parts={getParts(report)} label={`${percent} % published`} />
        <span class="word">{`${percent}\u00a0%`}</span>
      </span>
      {state === 'active' && report.state !== 'done' && (rate ?? eta) !== null && (
        <div class="faint">{[rate, eta].filter((part) => part !== null).join(', ')}</div>
      )}
    </>
  );
}

/** Pause, resume, cancel. */
export function StateActions({ range: { id, state } }: { range: Range }) {
  const expected = { state };
  const button = (next: Range['state'], label: string, confirm?: string) => (
    <ActionButton
      name="backfills/state"
      input={{ id, state: next, expected }}
      subject={`backfill ${id}`}
      confirm={confirm}
    >
      {label}
    </ActionButton>
  );
  return (
    <span class="actions">
      {state === 'active' ? button('paused', 'Pause') : button('active', 'Resume')}
      {state !== 'cancelled' &&
        button(
          'cancelled',
          'Cancel',
          `Cancel backfill ${id}? Staged and published blocks stay; the rest is not fetched.`,
        )}
    </span>
  );
}
