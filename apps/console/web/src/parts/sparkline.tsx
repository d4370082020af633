const WIDTH = 120;
const HEIGHT = 26;

/** A line of a few figures, the oldest first, with a gap where one is unknown; `label` says them to those who do not see it. */
export function Sparkline({ values, label }: { values: readonly (number | null)[]; label: string }) {
  const known = values.filter((value) => value !== null);
  if (values.length < 2 || known.length === 0) return null;
  const most = Math.max(...known) || 1;
  const step = WIDTH / (values.length - 1);
  const y = (value: number): number => HEIGHT - 1 - (value / most) * (HEIGHT - 2);
  const toPoint = (value: number | null, at: number): string => {
    if (value === null) return '';
    const point = `${(at * step).toFixed(1)} ${y(value).toFixed(1)}`;
    // One alone is a dot: a line to where it is.
    return (values[at - 1] ?? null) === null ? `M${point}L${point}` : `L${point}`;
  };
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img">
      <title>{label}</title>
      <path
        d={values.map(toPoint).join('')}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
      />
    </svg>
  );
}
