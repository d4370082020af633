import type { Answer } from '../../lib/answers.js';
import { formatCount, formatDate } from '../../lib/format.js';
import { ActionButton } from '../../parts/changes.js';

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

/** A bar, the rate and the ETA. */
export function Progress({ report, state }: { report: BackfillReport | undefined; state: Range['state'] }) {
  if (state === 'cancelled') return <>cancelled</>;
  if (report === undefined) return <span class="faint">…</span>;
  const { published, all } = getTotals(report);
  const percent = all === 0 ? 0 : Math.floor((published / all) * 1_000) / 10;
  const rate = report.rate === null ? null : `${report.rate.blocksPerSecond.toFixed(1)} blocks/s`;
  return (
    <>
      <progress value={published} max={Math.max(1, all)} aria-label={`${percent} % published`} />{' '}
      {`${percent}\u00a0%`}
      <div class="faint">
        {report.state === 'done'
          ? 'complete'
          : [report.state, rate, report.forecast === null ? null : `ETA ${formatDate(report.forecast)}`]
              .filter((part) => part !== null)
              .join(', ')}
      </div>
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
