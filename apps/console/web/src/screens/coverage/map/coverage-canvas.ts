import { REASONS } from '../../../lib/reasons.js';
import { type CoverageMap, toStripes } from './coverage-map.js';
import type { View } from './coverage-view.js';

const UNKNOWN = { letter: '?', acts: false, group: 'broken' } as const;

/** Heights in CSS pixels. */
export const ROW = 30;
const GAP = 4;
/** Stripes of this width have room for a letter. */
const LETTER = 12;
/** The least height of what is missing, and of what needs action. */
const MIN_MISSING = 6;
const MIN_ACTS = ROW / 2;
/** The least width of what needs action. */
const MIN_WIDTH = 3;

/** The part of a canvas' context that drawing needs. */
type Brush = Pick<
  CanvasRenderingContext2D,
  'clearRect' | 'fillRect' | 'fillText' | 'fillStyle' | 'font' | 'textAlign' | 'textBaseline'
>;

/** Colours by group of reasons; `published`, `ground` and `unread` are there too. */
export type Colours = Readonly<Record<string, string>>;

/**
 * Draws a row a kind: what is published over the whole height, what is missing from the bottom, as high as its share. A
 * hole that needs action has lines across it, and one that is wide enough its letter, so that colours are never
 * alone.
 */
export function drawMap(brush: Brush, map: CoverageMap, view: View, pixels: number, colours: Colours): void {
  brush.clearRect(0, 0, pixels, map.kinds.length * ROW);
  brush.font = 'bold 11px system-ui, sans-serif';
  brush.textAlign = 'center';
  brush.textBaseline = 'middle';
  const fill = (name: string, x: number, y: number, width: number, height: number): void => {
    brush.fillStyle = colours[name] ?? '#888';
    brush.fillRect(x, y, width, height);
  };
  for (const [at, row] of map.kinds.entries()) {
    const [top, height] = [at * ROW, ROW - GAP];
    const stripes = toStripes(map, row, view, pixels);
    for (const { x, width, reason } of stripes) {
      fill(reason === undefined ? 'unread' : 'published', x, top, width, height);
    }
    // What needs action comes last, over its neighbours where it is narrow.
    for (const last of [false, true]) {
      for (const { reason, missing, ...stripe } of stripes) {
        const { letter, acts, group } = REASONS[reason ?? ''] ?? UNKNOWN;
        if (reason === undefined || reason === null || acts !== last) continue;
        const width = acts ? Math.max(MIN_WIDTH, stripe.width) : stripe.width;
        const x = Math.max(0, stripe.x - Math.floor((width - stripe.width) / 2));
        const part = Math.max(acts ? MIN_ACTS : MIN_MISSING, Math.round(missing * height));
        fill(group, x, top + height - part, width, part);
        if (acts) for (let y = 2; y < part; y += 4) fill('ground', x, top + height - y, width, 1);
        // What nobody asked for stays quiet: its colour is of no other reason but those that time ends.
        if (group === 'quiet' || width < LETTER || part < LETTER) continue;
        fill('ground', x + width / 2 - 6, top + height - part / 2 - 6, 12, 12);
        brush.fillStyle = colours.letter ?? '#888';
        brush.fillText(letter, x + width / 2, top + height - part / 2);
      }
    }
  }
}
