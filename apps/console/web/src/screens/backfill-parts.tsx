import { count, dateTime } from '../lib/format.js';
import { ActionButton } from '../parts/action-button.js';

export interface Range {
  id: number;
  network: string;
  kinds: string[];
  start: number;
  end: number | null;
  priority: number;
  state: 'active' | 'paused' | 'cancelled';
  createdAt: string;
  owner: string;
  weight: number;
  windows: string[];
  deadline: string | null;
  maxRequests: number | null;
}

export interface BackfillReport {
  range: Range;
  kinds: { kind: string; published: number; missing: Record<string, number> }[];
  blocksLeft: number;
  requests: number;
  rate: { blocksPerSecond: number; of: 'backfill' | 'network' } | null;
  forecast: string | null;
  deadline: { deadline: string; standing: string; takes: number | null } | null;
  state: 'done' | 'fetching' | 'waiting';
  waits: { reason: string; message: string }[];
}

export const rangeText = ({ start, end }: Pick<Range, 'start' | 'end'>): string =>
  end === null ? `${count(start)} on, following the head` : `${count(start)} to ${count(end)}`;

/** The terms of a range as they were read: with them, a change does not overwrite that of another operator. */
export function expectedOf({
  state,
  priority,
  owner,
  weight,
  windows,
  deadline,
  maxRequests,
}: Range): object {
  return { state, priority, owner, weight, windows, deadline, maxRequests };
}

/** Blocks of all kinds together: how many are published, of how many. */
export function totals({ kinds }: BackfillReport): { published: number; all: number } {
  let [published, all] = [0, 0];
  for (const kind of kinds) {
    published += kind.published;
    all += kind.published + Object.values(kind.missing).reduce((sum, blocks) => sum + blocks, 0);
  }
  return { published, all };
}

/** A bar, the rate, and when it ends. */
export function Progress({ report, state }: { report: BackfillReport | undefined; state: Range['state'] }) {
  if (state === 'cancelled') return <>cancelled</>;
  if (report === undefined) return <span class="faint">…</span>;
  const { published, all } = totals(report);
  const percent = all === 0 ? 0 : Math.floor((published / all) * 1_000) / 10;
  const rate = report.rate === null ? null : `${report.rate.blocksPerSecond.toFixed(1)} blocks/s`;
  return (
    <>
      <progress value={published} max={Math.max(1, all)} aria-label={`${percent} % published`} />{' '}
      {`${percent}\u00a0%`}
      <div class="faint">
        {report.state === 'done'
          ? 'all is published'
          : [report.state, rate, report.forecast === null ? null : `until ${dateTime(report.forecast)}`]
              .filter((part) => part !== null)
              .join(', ')}
      </div>
    </>
  );
}

/** Pause, resume, cancel. */
export function Steer({ range, done }: { range: Range; done: () => void }) {
  const { id, state } = range;
  const expected = { state };
  const button = (action: string, label: string, confirm?: string) => (
    <ActionButton
      name="backfills/steer"
      input={{ id, action, expected }}
      subject={`backfill ${id}`}
      {...(confirm === undefined ? {} : { confirm })}
      done={done}
    >
      {label}
    </ActionButton>
  );
  return (
    <span class="actions">
      {state === 'active' ? button('pause', 'Pause') : button('resume', 'Resume')}
      {state !== 'cancelled' &&
        button(
          'cancel',
          'Cancel',
          `Cancel backfill ${id}? What is staged or published stays; the rest is not fetched.`,
        )}
    </span>
  );
}
