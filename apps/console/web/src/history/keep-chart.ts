import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** Keeps a chart as wide as its frame and in the colours of the theme. Returns what takes it away. */
export function keepChart(element: HTMLElement, chart: uPlot): () => void {
  const resized = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: chart.height }),
  );
  resized.observe(element);
  const redraw = (): void => chart.redraw(false);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', redraw);
  const themed = new MutationObserver(redraw);
  themed.observe(document.documentElement, { attributes: true });
  return () => {
    resized.disconnect();
    themed.disconnect();
    scheme.removeEventListener('change', redraw);
    chart.destroy();
  };
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

/** How the axes of all charts look. */
export function axisOf(element: HTMLElement): uPlot.Axis {
  return {
    stroke: () => getColour(element, 'faint'),
    grid: { stroke: () => getColour(element, 'line'), width: 1 },
    ticks: { stroke: () => getColour(element, 'line'), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
}

/** How wide the axis of values is: the longest of them, with the ticks. */
export const toAxisWidth: uPlot.Axis.Size = (plot, values) => {
  plot.ctx.save();
  plot.ctx.font = `12px ${getComputedStyle(plot.root).fontFamily}`;
  const widths = (values ?? []).map((value) => plot.ctx.measureText(value).width);
  plot.ctx.restore();
  return Math.ceil(Math.max(24, ...widths)) + 20;
};

/** The largest of a scale that begins at 0, with room above. */
export function withRoom(high: number): number {
  return high > 0 ? high * 1.05 : 1;
}
