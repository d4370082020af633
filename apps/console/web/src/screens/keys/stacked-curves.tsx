import { useState } from 'preact/hooks';
import uPlot from 'uplot';
import { getColour, useChart } from '../../history/use-chart.js';
import type { Answer } from '../../lib/answers.js';
import { formatCount } from '../../lib/format.js';

const HEIGHT = 220;

type Usage = Answer<'keys/usage/series'>;

/** Units by day, each series on those below it; the pointer reads a day. The table below has the sums. */
export function StackedCurves({ label, usage: { days, series } }: { label: string; usage: Usage }) {
  const [at, setAt] = useState<number | null>(null);
  const content = JSON.stringify({ days, series });
  const { frame } = useChart((element) => describeUsage(element, { days, series }, setAt), [content]);
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

function describeUsage(
  element: HTMLElement,
  { days, series }: Usage,
  moved: (index: number | null) => void,
): ReturnType<Parameters<typeof useChart>[0]> {
  const below = days.map(() => 0);
  const tops = series.map(({ units }) =>
    units.map((value, day) => {
      below[day] = (below[day] ?? 0) + value;
      return below[day] ?? 0;
    }),
  );
  // The highest first: each next one covers the lower part of it.
  const drawn = tops.map((values, index) => ({ values, token: getToken(index) })).reverse();
  return {
    height: HEIGHT,
    data: [days.map((day) => Date.parse(day) / 1_000), ...drawn.map(({ values }) => values)],
    // Days are those of UTC, as they are counted.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    formatX: (times) => times.map(formatDay),
    formatY: formatCount,
    cursor: { drag: { x: false, y: false } },
    series: drawn.map(({ token }) => ({
      stroke: () => getColour(element, token),
      fill: () => getColour(element, token),
      points: { show: false },
    })),
    hooks: { setCursor: [({ cursor }) => moved((cursor.left ?? -1) < 0 ? null : (cursor.idx ?? null))] },
  };
}
