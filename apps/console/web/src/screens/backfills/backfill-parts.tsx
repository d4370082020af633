import type { Answer } from '../../lib/answers.js';
import { formatCount, formatRate, formatTime } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { ActionButton, MayChange, NewForm } from '../../parts/changes.js';
import { text } from '../../parts/form-fields.js';
import { Meter } from '../../parts/meter.js';

export type BackfillReport = Answer<'backfills/progress'>[number];
export type Range = BackfillReport['backfill'];

export const formatRange = ({ from, to }: Pick<Range, 'from' | 'to'>): string =>
  to === null
    ? `from ${formatCount(from)}, following the head`
    : `${formatCount(from)} to ${formatCount(to)}`;

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
  const rate = report.rate === null ? null : `${formatRate(report.rate.blocksPerSecond)} blocks/s`;
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

/** Pauses it with a reason, or says why it is paused. */
function PauseForm({ range: { id, state, stopped } }: { range: Range }) {
  const isActive = state === 'active';
  const label = isActive ? 'Reason (optional; everyone sees it)' : 'Reason (everyone sees it)';
  return (
    <MayChange>
      <NewForm
        title={isActive ? 'Pause' : stopped?.reason ? 'Change the reason' : 'Add a reason'}
        name="backfills/state"
        submit={isActive ? 'Pause' : 'Save'}
        subject={`backfill ${id}`}
        fields={{ reason: text(label, { maxLength: 500, required: !isActive }) }}
        input={{ id, state: 'paused', expected: { state } }}
        defaults={{ reason: stopped?.reason }}
      />
    </MayChange>
  );
}

/** Pause, resume, cancel; a pause is one click, or asks for its reason. */
export function StateActions({ range, withReason = false }: { range: Range; withReason?: boolean }) {
  const { id, state } = range;
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
      {state !== 'active' ? button('active', 'Resume') : !withReason && button('paused', 'Pause')}
      {withReason && state !== 'cancelled' && <PauseForm key={state} range={range} />}
      {state !== 'cancelled' &&
        button(
          'cancelled',
          'Cancel',
          `Cancel backfill ${id}? Staged and published blocks are kept; the rest is not fetched.`,
        )}
    </span>
  );
}
