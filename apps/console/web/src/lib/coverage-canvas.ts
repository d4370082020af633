import { type CoverageMap, stripesOf } from './coverage-map.js';
import type { View } from './coverage-view.js';
import { REASONS } from './reasons.js';

/** Heights in CSS pixels. */
export const ROW = 30;
const GAP = 4;
/** Stripes of this width have room for a letter. */
const LETTER = 12;
/** So much of a row is at least drawn where a block is missing. */
const LEAST = 6;

/** The part of a canvas' context that drawing needs. */
export type Brush = Pick<
  CanvasRenderingContext2D,
  'clearRect' | 'fillRect' | 'fillText' | 'fillStyle' | 'font' | 'textAlign' | 'textBaseline'
>;

/** Colours by reason; `published`, `ground` and `unread` are there too. */
export type Colours = Readonly<Record<string, string>>;

/**
 * Draws a row a kind: what is published over the whole height, what is missing from the bottom, as high as its share. A
 * hole that waits for somebody has lines across it, and one that is wide enough its letter, so that colours are never
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
    for (const { x, width, reason, missing } of stripesOf(map, row, view, pixels)) {
      fill(reason === undefined ? 'unread' : 'published', x, top, width, height);
      if (reason === undefined || reason === null) continue;
      const part = Math.max(LEAST, Math.round(missing * height));
      fill(reason, x, top + height - part, width, part);
      const { letter, acts } = REASONS[reason] ?? { letter: '?', acts: false };
      if (acts) for (let y = 2; y < part; y += 4) fill('ground', x, top + height - y, width, 1);
      if (width < LETTER || part < LETTER) continue;
      fill('ground', x + width / 2 - 6, top + height - part / 2 - 6, 12, 12);
      brush.fillStyle = colours[reason] ?? '#888';
      brush.fillText(letter, x + width / 2, top + height - part / 2);
    }
  }
}
