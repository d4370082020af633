import { formatCount } from '../lib/format.js';

const WIDTH = 640;
const HEIGHT = 120;
const MIN_BARS = 30;

/** A bar chart, one bar per name. */
export function Bars({ label, rows }: { label: string; rows: readonly { name: string; value: number }[] }) {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  // A few bars are no wall: what is left stays free.
  const width = WIDTH / Math.max(MIN_BARS, rows.length);
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {rows.map(({ name, value }, index) => {
          const height = value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT);
          const place = { x: index * width + width * 0.1, y: HEIGHT - height };
          return (
            <rect key={name} {...place} width={width * 0.8} height={height}>
              <title>{`${name}: ${formatCount(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        {label}: {rows[0]?.name} to {rows.at(-1)?.name}, peak {formatCount(most)}
      </figcaption>
    </figure>
  );
}
