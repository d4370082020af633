import { useState } from 'preact/hooks';
import type { Answer } from '../lib/answers.js';
import { saveCsv, toCsv } from '../lib/csv.js';
import { formatCount, formatDate, pluralize } from '../lib/format.js';
import { useModal } from '../lib/hooks/use-modal.js';
import { Select } from '../parts/fields.js';
import { Read } from '../parts/states.js';
import { CurveChart } from './curve-chart.js';
import './curve-dialog.css';
import {
  type CurveOf,
  describeMark,
  describeOf,
  FIGURES,
  formatStep,
  getMarkTone,
  RANGE_OPTIONS,
} from './figures.js';

type Curves = Answer<'history'>;

const EVERY_MS = 60_000;

/** A curve with its range, figure, marks and export. */
export function CurveDialog({
  of,
  figure: first,
  close,
}: {
  of: CurveOf;
  figure: string;
  close: () => void;
}) {
  const { own, ...input } = of;
  const [last, setLast] = useState('24h');
  const [figure, setFigure] = useState(first);
  const dialog = useModal();
  return (
    <dialog ref={dialog} class="curve" aria-label={`${describeOf(of)} over time`} onClose={close}>
      <div class="curve-head">
        <h2>
          <bdi>{describeOf(of)}</bdi>
        </h2>
        <Select label="Last" value={last} options={RANGE_OPTIONS} choose={setLast} />
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <Read name={own === true ? 'own/history' : 'history'} input={{ ...input, last }} everyMs={EVERY_MS}>
        {(curves) => <Curve of={of} curves={curves} figure={figure} choose={setFigure} last={last} />}
      </Read>
    </dialog>
  );
}

function Curve(given: {
  of: CurveOf;
  curves: Curves;
  figure: string;
  choose: (figure: string) => void;
  last: string;
}) {
  const { of, curves, figure, choose, last } = given;
  const { figures, from, kept, marks, marksCut, stepSeconds } = curves;
  const values = figures[figure] ?? [];
  const known = values.filter((value) => value !== null);
  const { label = figure, unit = '', format = String } = FIGURES[figure] ?? {};
  const save = (): void => {
    const rows = values.map((value, at) => [toTime(from, at * stepSeconds), value]);
    saveCsv(
      `${figure}-${describeOf(of).replace(/[^\w.-]+/g, '-')}-${last}.csv`,
      toCsv([['time', unit], ...rows]),
    );
  };
  return (
    <>
      <div class="curve-head">
        <Select
          label="Figure"
          value={figure}
          options={Object.keys(figures).map((name) => [name, FIGURES[name]?.label ?? name] as const)}
          choose={choose}
        />
        <button type="button" disabled={known.length === 0} onClick={save}>
          Export as CSV
        </button>
        <span class="faint">One point every {formatStep(stepSeconds)}, in the time zone of this browser</span>
      </div>
      {known.length === 0 ? (
        <p class="empty">{WHY_EMPTY[kept]}</p>
      ) : (
        <>
          <CurveChart
            label={label}
            fromSeconds={Date.parse(from) / 1_000}
            stepSeconds={stepSeconds}
            values={values}
            marks={marks}
            format={format}
          />
          <p class="faint">
            Lowest {format(Math.min(...known))}, highest {format(Math.max(...known))}, latest{' '}
            {format(known.at(-1) ?? 0)}. {countGaps(values)}
          </p>
        </>
      )}
      <Marks marks={marks} cut={marksCut} />
    </>
  );
}

const WHY_EMPTY: Readonly<Record<Curves['kept'], string>> = {
  own: 'No data for this figure in this range.',
  others: 'No curve of its own: there are too many to store each. It is included in the sum of the others.',
  none: 'No samples yet. A packer takes one every minute.',
};

function countGaps(values: readonly (number | null)[]): string {
  const first = values.findIndex((value) => value !== null);
  const gaps = values.slice(first).filter((value) => value === null).length;
  return gaps === 0
    ? ''
    : `${formatCount(gaps)} of ${formatCount(values.length - first)} points are unknown.`;
}

const toTime = (from: string, seconds: number): string =>
  new Date(Date.parse(from) + seconds * 1_000).toISOString();

function Marks({ marks, cut }: { marks: Curves['marks']; cut: boolean }) {
  if (marks.length === 0) return null;
  return (
    <details>
      <summary>
        {pluralize(marks.length, 'event')}
        {cut && ', the newest of this range'}
      </summary>
      <ul class="plain marks">
        {[...marks].reverse().map((mark) => (
          <li key={`${mark.at} ${mark.kind} ${mark.subject}`}>
            <span class="faint">{formatDate(mark.at)}</span>{' '}
            <bdi class={getMarkTone(mark)}>{describeMark(mark)}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}
