import { DAY_MS } from '@packhouse/runtime';
import { useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatDate, toLocalIso } from '../lib/format.js';
import { describeMark, getMarkTone, type Mark } from './figures.js';
import { getColour, useChart } from './use-chart.js';

const HEIGHT = 320;
/** How near a mark is named, in pixels. */
const NEAR = 6;

interface ChartProps {
  label: string;
  /** Since 1970-01-01, of the first value. */
  fromSeconds: number;
  stepSeconds: number;
  /** null is a gap. */
  values: readonly (number | null)[];
  marks: readonly Mark[];
  format: (value: number) => string;
}

/**
 * One curve. The pointer or the arrow keys (with Shift ten points, Home, End) read its values; dragging shows a part, a
 * double click all of it.
 */
export function CurveChart(props: ChartProps) {
  const { fromSeconds, label, marks, stepSeconds, values, format } = props;
  const [at, setAt] = useState<number | null>(null);
  /** Where the cursor is: a key may be pressed again before the page shows it. */
  const place = useRef<number | null>(null);
  const [near, setNear] = useState<Mark[]>([]);
  const { frame, chart } = useChart(
    (element) =>
      describeCurve(element, props, (index, found) => {
        place.current = index;
        setAt(index);
        setNear(found);
      }),
    [label, fromSeconds, stepSeconds, values, marks],
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    const plot = chart.current;
    const now = place.current ?? values.length;
    const step = event.shiftKey ? 10 : 1;
    const next = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: values.length - 1 }[
      event.key
    ];
    if (plot === undefined || next === undefined) return;
    event.preventDefault();
    const index = Math.min(values.length - 1, Math.max(0, next));
    place.current = index;
    plot.setCursor({ left: plot.valToPos(fromSeconds + index * stepSeconds, 'x'), top: 10 });
  };
  const value = at === null ? undefined : values[at];
  const time = at === null ? '' : formatDate((fromSeconds + at * stepSeconds) * 1_000);
  const shown = value === null ? 'unknown' : value === undefined ? '' : format(value);
  const said = value === undefined ? 'no point selected' : `${time}: ${shown}`;
  return (
    <>
      <div
        class="curve-frame"
        ref={frame}
        tabIndex={0}
        role="slider"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={values.length - 1}
        aria-valuenow={at ?? values.length - 1}
        aria-valuetext={said}
        onKeyDown={onKeyDown}
      />
      <p class="curve-value">
        {value === undefined ? (
          <span class="faint">Point at the curve, or focus it and use the arrow keys. Drag to zoom.</span>
        ) : (
          <>
            {time}: <strong>{shown}</strong>
          </>
        )}
        {near.map((mark) => (
          <bdi key={`${mark.at} ${mark.kind} ${mark.subject}`} class={getMarkTone(mark)}>
            {' '}
            {describeMark(mark)}
          </bdi>
        ))}
      </p>
    </>
  );
}

function describeCurve(
  element: HTMLElement,
  { fromSeconds, stepSeconds, values, marks, format }: ChartProps,
  moved: (index: number | null, marks: Mark[]) => void,
): ReturnType<Parameters<typeof useChart>[0]> {
  const times = values.map((_, index) => fromSeconds + index * stepSeconds);
  const place = ({ at }: Mark): number => Date.parse(at) / 1_000;
  const drawMarks = (plot: uPlot): void => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of marks) {
      const x = Math.round(plot.valToPos(place(mark), 'x', true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = getColour(element, getMarkTone(mark));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
  const onCursor = (plot: uPlot): void => {
    const { idx, left = -1 } = plot.cursor;
    const found =
      left < 0 ? [] : marks.filter((mark) => Math.abs(plot.valToPos(place(mark), 'x') - left) <= NEAR);
    moved(left < 0 ? null : (idx ?? null), found.slice(0, 3));
  };
  return {
    height: HEIGHT,
    data: [times, [...values]],
    formatX: formatTimes,
    formatY: format,
    cursor: { points: { size: 7 } },
    series: [
      {
        stroke: () => getColour(element, 'accent'),
        width: 1.5,
        spanGaps: false,
        points: { show: isAlone },
      },
    ],
    hooks: { drawClear: [drawMarks], setCursor: [onCursor] },
  };
}

/** Times `seconds` apart, as 19:05, with the day below the first of each; days apart, as 11-26. */
function formatTimes(times: readonly number[], seconds: number): string[] {
  let last = '';
  return times.map((time) => {
    const [date = '', clock = ''] = toLocalIso(time * 1_000).split('T');
    const day = date.slice(5);
    const isNew = day !== last;
    last = day;
    if (seconds >= DAY_MS / 1_000) return day;
    return isNew ? `${clock.slice(0, 5)}\n${day}` : clock.slice(0, 5);
  });
}

/** Points are drawn only where a value has no neighbour, which no line would show. */
const isAlone: uPlot.Series.Points.Show = (plot, series, first, last) => {
  const values = plot.data[series] ?? [];
  for (let at = first; at <= last; at++) {
    const [before, value, after] = [values[at - 1] ?? null, values[at] ?? null, values[at + 1] ?? null];
    if (value !== null && before === null && after === null) return true;
  }
  return false;
};
