import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** What a chart shows; the rest as the library takes it. */
interface Drawing extends Pick<uPlot.Options, 'height' | 'cursor' | 'hooks' | 'series' | 'tzDate'> {
  data: uPlot.AlignedData;
  /** The texts of times, `seconds` apart. */
  formatX: (times: number[], seconds: number) => string[];
  formatY: (value: number) => string;
}

/** Draws a chart as wide as its frame and in the colours of the theme, and again if what it depends on changes. */
export function useChart(describe: (element: HTMLElement) => Drawing, dependsOn: readonly unknown[]) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const made = drawChart(element, describe(element));
    chart.current = made;
    const resized = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: made.height }),
    );
    resized.observe(element);
    const redraw = (): void => made.redraw(false);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributes: true });
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener('change', redraw);
      made.destroy();
    };
  }, dependsOn);
  return { frame, chart };
}

function drawChart(element: HTMLElement, drawing: Drawing): uPlot {
  const { cursor, data, formatX, formatY, series, ...options } = drawing;
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: () => getColour(element, 'faint'),
    grid: { stroke: () => getColour(element, 'line'), width: 1 },
    ticks: { stroke: () => getColour(element, 'line'), width: 1 },
    font,
  };
  return new uPlot(
    {
      ...options,
      width: element.clientWidth || 600,
      legend: { show: false },
      cursor: { y: false, ...cursor },
      // From 0, with room above.
      scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
      axes: [
        { ...axis, values: (_, splits, __, ___, seconds) => formatX(splits, seconds) },
        { ...axis, size: toAxisWidth(font), values: (_, splits) => splits.map(formatY) },
      ],
      series: [{}, ...series],
    },
    data,
    element,
  );
}

/** A canvas knows no variables: the colour that an element of this tone has now. */
export function getColour(element: HTMLElement, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** How wide the axis of values is: the longest of them, with the ticks. */
const toAxisWidth =
  (font: string): uPlot.Axis.Size =>
  (plot, values) => {
    plot.ctx.save();
    plot.ctx.font = font;
    const widths = (values ?? []).map((value) => plot.ctx.measureText(value).width);
    plot.ctx.restore();
    return Math.ceil(Math.max(24, ...widths)) + 20;
  };
