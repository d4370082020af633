import type { Answer } from '../../lib/answers.js';
import { toText } from '../../lib/form-values.js';
import { formatCount, formatRate, formatTime } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { Field } from '../../parts/fields.js';
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
const PauseForm = ({ range: { id, state, stopped } }: { range: Range }) => (
  <MayChange>
    <details>
      <summary>
        {state === 'active' ? 'Pause' : stopped?.reason ? 'Change the reason' : 'Add a reason'}
      </summary>
      <ChangeForm
        name="backfills/state"
        submit={state === 'active' ? 'Pause' : 'Save'}
        subject={`backfill ${id}`}
        getInput={(form) => ({ id, state: 'paused', expected: { state }, reason: toText(form, 'reason') })}
      >
        <Field
          label={state === 'active' ? 'Reason (optional; everyone sees it)' : 'Reason (everyone sees it)'}
          name="reason"
          maxLength={500}
          required={state !== 'active'}
          defaultValue={stopped?.reason ?? ''}
        />
      </ChangeForm>
    </details>
  </MayChange>
);

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
