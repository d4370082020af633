import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Colours, drawMap, ROW } from '../lib/coverage-canvas.js';
import { type CoverageMap, look } from '../lib/coverage-map.js';
import { blockAt, type View, viewAfterKey, zoom } from '../lib/coverage-view.js';
import { count } from '../lib/format.js';
import { REASONS } from '../lib/reasons.js';

/** A turn of the wheel by so many pixels shows twice or half as many blocks. */
const WHEEL_PIXELS = 240;
const CLICK_FACTOR = 1 / 8;
const MAX_PIXELS = 4_000;

/** The map on a canvas: wheel, click and keys zoom; the line below tells what is at the pointer or in the middle. */
export function CoverageCanvas(props: {
  map: CoverageMap;
  view: View;
  bounds: View;
  show: (view: View) => void;
}) {
  const { map, view, bounds, show } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pixels, setPixels] = useState(0);
  const [place, setPlace] = useState({ x: 0.5, row: 0 });
  const [scheme, setScheme] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const sized = new ResizeObserver(() => setPixels(Math.min(MAX_PIXELS, Math.floor(element.clientWidth))));
    sized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const changed = (): void => setScheme((before) => before + 1);
    dark.addEventListener('change', changed);
    return () => {
      sized.disconnect();
      dark.removeEventListener('change', changed);
    };
  }, []);
  const { from, to } = view;
  const height = map.kinds.length * ROW;
  useLayoutEffect(() => {
    const brush = canvas.current?.getContext('2d');
    if (!canvas.current || !brush || pixels === 0) return;
    const dense = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(pixels * dense);
    canvas.current.height = Math.round(height * dense);
    brush.scale(dense, dense);
    drawMap(brush, map, { from, to }, pixels, colours());
  }, [map, from, to, pixels, height, scheme]);

  const placeOf = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const row = Math.floor((event.clientY - box.top) / ROW);
    return { x, row: Math.min(map.kinds.length - 1, Math.max(0, row)) };
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    show(zoom(view, bounds, 2 ** (event.deltaY / WHEEL_PIXELS), placeOf(event).x));
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const next = viewAfterKey(event.key, view, bounds);
    if (next === null && by === 0) return;
    event.preventDefault();
    setPlace({ x: 0.5, row: Math.min(map.kinds.length - 1, Math.max(0, place.row + by)) });
    if (next !== null) show(next);
  };
  return (
    <>
      <div class="map">
        <div class="map-kinds" aria-hidden="true">
          {map.kinds.map(({ kind }) => (
            <div key={kind}>{kind}</div>
          ))}
        </div>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          style={{ height: `${height}px` }}
          aria-label={`Coverage of blocks ${count(from)} to ${count(to)}. Plus and minus zoom, arrows move, Home and End go to the first and last block, 0 shows everything. The table below has the same holes.`}
          aria-describedby="map-spot"
          onWheel={wheel}
          onKeyDown={key}
          onMouseMove={(event) => setPlace(placeOf(event))}
          onClick={(event) => show(zoom(view, bounds, CLICK_FACTOR, placeOf(event).x))}
        />
      </div>
      <p class="map-ends" aria-hidden="true">
        <span>{count(from)}</span>
        <span>{count(to)}</span>
      </p>
      <p id="map-spot" aria-live="polite">
        {describe(map, blockAt(view, place.x), place.row)}
      </p>
    </>
  );
}

/** What the column of a block says. */
function describe(map: CoverageMap, block: number, at: number): string {
  const row = map.kinds[at] ?? map.kinds[0];
  const spot = row && look(map, row, { from: block, to: block });
  if (!row || !spot) return `Block ${count(block)} is being read.`;
  const blocks = spot.to - spot.from + 1;
  const where =
    blocks === 1
      ? `${row.kind} of block ${count(spot.from)}`
      : `${row.kind} of blocks ${count(spot.from)} to ${count(spot.to)}`;
  if (spot.reason === null) return `${where}: published.`;
  const { meaning } = REASONS[spot.reason] ?? { meaning: '' };
  const missing = blocks === 1 ? 'not published' : `${count(spot.missing)} of ${count(blocks)} not published`;
  return `${where}: ${missing}; ${blocks === 1 ? '' : 'the worst reason is '}${spot.reason} (${meaning}).`;
}

/** The colours that the legend has, in the scheme of the moment. */
function colours(): Colours {
  return Object.fromEntries(
    [...document.querySelectorAll<HTMLElement>('[data-reason]')].map((element) => [
      element.dataset.reason,
      getComputedStyle(element).color,
    ]),
  );
}
