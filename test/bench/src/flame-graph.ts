import type { Frame } from './profile.js';

const WIDTH = 1_600;
const ROW = 16;
/** Narrower frames are left out, in pixels. */
const NARROWEST = 0.5;
/** A letter's width, in pixels. */
const LETTER = 6.2;

/** A flame graph as an SVG: callers below, widths are times, the pointer tells a frame's name and share. */
export function flameGraph(root: Frame, title: string): string {
  const rects: string[] = [];
  let depth = 0;
  const draw = (frame: Frame, x: number, level: number): void => {
    const width = (frame.ms / root.ms) * WIDTH;
    if (!(width >= NARROWEST)) return;
    depth = Math.max(depth, level);
    const share = `${((100 * frame.ms) / root.ms).toFixed(1)} %, ${frame.ms.toFixed(0)} ms`;
    const letters = Math.floor((width - 4) / LETTER);
    const label = letters < 3 ? '' : escaped(frame.name.slice(0, letters));
    rects.push(
      `<g transform="translate(${x.toFixed(1)},${-(level + 1) * ROW})"><title>${escaped(frame.name)}: ${share}</title>` +
        `<rect width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colour(frame.name)}"/>` +
        `<text x="2" y="12">${label}</text></g>`,
    );
    let at = x;
    for (const child of [...frame.children.values()].sort((a, b) => b.ms - a.ms)) {
      draw(child, at, level + 1);
      at += (child.ms / root.ms) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 3) * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="monospace" font-size="10">`,
    `<text x="2" y="14" font-size="13">${escaped(title)}</text>`,
    `<g transform="translate(0,${height})">`,
    ...rects,
    '</g></svg>',
    '',
  ].join('\n');
}

/** One colour for what is of one file. */
function colour(name: string): string {
  let hash = 0;
  for (const letter of name.replace(/^\S+ |:\d+$/g, '')) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return `hsl(${hash},60%,75%)`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
