import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { axisOf, getColour, keepChart, toAxisWidth, withRoom } from '../../history/keep-chart.js';
import type { Answer } from '../../lib/answers.js';
import { formatCount } from '../../lib/format.js';

const HEIGHT = 220;

type Usage = Answer<'keys/usage/series'>;

/** Units by day, each series on those below it; the pointer reads a day. The table below has the sums. */
export function StackedCurves({ label, usage: { days, series } }: { label: string; usage: Usage }) {
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const content = JSON.stringify({ days, series });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const made = makeChart(element, JSON.parse(content), setAt);
    return keepChart(element, made);
  }, [content]);
  return (
    <>
      <div class="card">
        <div ref={frame} role="img" aria-label={label} />
      </div>
      <ul class="plain actions">
        <li class="faint">{at === null ? 'Sum' : days[at]}</li>
        {series.map(({ name, units }, index) => (
          <li key={name}>
            <span aria-hidden="true" style={{ color: `var(--${getToken(index)})` }}>
              ■
            </span>{' '}
            <bdi>{name ?? 'others'}</bdi>{' '}
            {formatCount(at === null ? units.reduce((sum, value) => sum + value, 0) : (units[at] ?? 0))}
          </li>
        ))}
      </ul>
    </>
  );
}

/** 11-26: as the days above the chart are written, without the year. */
const formatDay = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(5, 10);

const getToken = (index: number): string => `series-${index + 1}`;

function makeChart(
  element: HTMLElement,
  { days, series }: Usage,
  moved: (index: number | null) => void,
): uPlot {
  const axis = axisOf(element);
  const below = days.map(() => 0);
  const tops = series.map(({ units }) =>
    units.map((value, day) => {
      below[day] = (below[day] ?? 0) + value;
      return below[day] ?? 0;
    }),
  );
  // The highest first: each next one covers the lower part of it.
  const drawn = tops.map((values, index) => ({ values, token: getToken(index) })).reverse();
  return new uPlot(
    {
      width: element.clientWidth || 600,
      height: HEIGHT,
      // Days are those of UTC, as they are counted.
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { y: { range: (_, _low, high) => [0, withRoom(high)] } },
      axes: [
        { ...axis, values: (_, splits) => splits.map(formatDay) },
        { ...axis, size: toAxisWidth, values: (_, splits) => splits.map(formatCount) },
      ],
      series: [
        {},
        ...drawn.map(({ token }) => ({
          stroke: () => getColour(element, token),
          fill: () => getColour(element, token),
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => moved((cursor.left ?? -1) < 0 ? null : (cursor.idx ?? null))] },
    },
    [days.map((day) => Date.parse(day) / 1_000), ...drawn.map(({ values }) => values)],
    element,
  );
}
