const WIDTH = 120;
const HEIGHT = 26;

/** A line of a few figures, the oldest first; `label` says them to those who do not see it. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null;
  const most = Math.max(...values) || 1;
  const step = WIDTH / (values.length - 1);
  const y = (value: number): number => HEIGHT - 1 - (value / most) * (HEIGHT - 2);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img">
      <title>{label}</title>
      <polyline points={points} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
