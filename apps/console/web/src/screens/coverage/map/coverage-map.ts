import type { Answer } from '../../../lib/answers.js';
import type { View } from './coverage-view.js';

export type CoverageMap = Answer<'coverage/map'>;
type MapRow = CoverageMap['kinds'][number];

/** Columns of pixels that look alike. */
interface Stripe {
  x: number;
  width: number;
  /** The worst reason; null: everything is published; undefined: not read yet. */
  reason: string | null | undefined;
  /** Which share of the blocks is missing, in steps of an eighth, rounded up. */
  missing: number;
}

const STEPS = 8;

/** What is known of blocks from..to of a kind; null: nothing. Columns that reach beyond count as a whole. */
export function getSpot(map: CoverageMap, row: MapRow, { from, to }: View): Omit<Spot, 'kind'> | null {
  const [first, last] = [Math.max(from, map.from), Math.min(to, map.to)];
  if (last < first) return null;
  const base = Math.floor(map.from / map.width);
  const [start, end] = [Math.floor(first / map.width), Math.floor(last / map.width)];
  let worst = '.';
  let missing = 0;
  for (let n = start; n <= end; n++) {
    const letter = row.worst[n - base] ?? '.';
    // The dot is before all letters.
    if (letter !== '.' && (worst === '.' || letter < worst)) worst = letter;
    missing += row.missing[n - base] ?? 0;
  }
  return {
    from: Math.max(start * map.width, map.from),
    to: Math.min((end + 1) * map.width - 1, map.to),
    reason: worst === '.' ? null : (map.reasons[worst.charCodeAt(0) - 'a'.charCodeAt(0)] ?? null),
    missing,
  };
}

/** A place of the map: the columns there. */
interface Spot extends View {
  kind: string;
  reason: string | null;
  /** Blocks that are not published. */
  missing: number;
}

/** What to draw of a row where `pixels` show a view, which need not be the one that was read. */
export function toStripes(map: CoverageMap, row: MapRow, view: View, pixels: number): Stripe[] {
  const stripes: Stripe[] = [];
  const blocks = view.to - view.from + 1;
  for (let x = 0; x < pixels; x++) {
    const from = view.from + Math.floor((x * blocks) / pixels);
    const next = view.from + Math.floor(((x + 1) * blocks) / pixels);
    const spot = getSpot(map, row, { from, to: Math.max(from, next - 1) });
    const reason = spot === null ? undefined : spot.reason;
    const missing = spot === null ? 0 : Math.ceil((spot.missing / (spot.to - spot.from + 1)) * STEPS) / STEPS;
    const last = stripes.at(-1);
    if (last !== undefined && last.reason === reason && last.missing === missing) last.width += 1;
    else stripes.push({ x, width: 1, reason, missing });
  }
  return stripes;
}
