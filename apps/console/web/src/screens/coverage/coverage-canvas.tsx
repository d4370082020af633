import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { onThemeChange } from '../../lib/theme.js';
import { type Colours, drawMap, ROW } from './map/coverage-canvas.js';
import { type CoverageMap, getSpot } from './map/coverage-map.js';
import { applyKey, getBlock, type View, zoom } from './map/coverage-view.js';

/** A turn of the wheel by so many pixels shows twice or half as many blocks. */
const WHEEL_PIXELS = 240;
const CLICK_FACTOR = 1 / 8;
const MAX_PIXELS = 4_000;

/** The map on a canvas: wheel, click and keys zoom; the line below describes the block at the pointer or in the middle. */
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
    const stop = onThemeChange(() => setScheme((before) => before + 1));
    return () => {
      sized.disconnect();
      stop();
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
    drawMap(brush, map, { from, to }, pixels, getColours());
  }, [map, from, to, pixels, height, scheme]);

  const getPlace = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const row = Math.floor((event.clientY - box.top) / ROW);
    return { x, row: Math.min(map.kinds.length - 1, Math.max(0, row)) };
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    show(zoom(view, bounds, 2 ** (event.deltaY / WHEEL_PIXELS), getPlace(event).x));
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const next = applyKey(event.key, view, bounds);
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
          aria-label={`Coverage of blocks ${formatCount(from)} to ${formatCount(to)}. Plus and minus zoom, arrow keys move, Home and End go to the first and last block, 0 shows all. The table below lists the same holes.`}
          aria-describedby="map-spot"
          onWheel={wheel}
          onKeyDown={key}
          onMouseMove={(event) => setPlace(getPlace(event))}
          onClick={(event) => show(zoom(view, bounds, CLICK_FACTOR, getPlace(event).x))}
        />
      </div>
      <p class="map-ends" aria-hidden="true">
        <span>{formatCount(from)}</span>
        <span>{formatCount(to)}</span>
      </p>
      <p id="map-spot" aria-live="polite">
        {describe(map, getBlock(view, place.x), place.row)}
      </p>
    </>
  );
}

/** The column of a block in words. */
function describe(map: CoverageMap, block: number, at: number): string {
  const row = map.kinds[at] ?? map.kinds[0];
  const spot = row && getSpot(map, row, { from: block, to: block });
  if (!row || !spot) return `Block ${formatCount(block)}: loading…`;
  const blocks = spot.to - spot.from + 1;
  const where =
    blocks === 1
      ? `Block ${formatCount(spot.from)}, ${row.kind}`
      : `Blocks ${formatCount(spot.from)} to ${formatCount(spot.to)}, ${row.kind}`;
  if (spot.reason === null) return `${where}: published.`;
  const { label, meaning } = REASONS[spot.reason] ?? { label: spot.reason, meaning: '' };
  const missing =
    blocks === 1 ? 'not published' : `${formatCount(spot.missing)} of ${formatCount(blocks)} not published`;
  return `${where}: ${missing}; ${blocks === 1 ? '' : 'worst reason: '}${label}, ${meaning}.`;
}

/** The colours that the legend has, in the scheme of the moment. */
function getColours(): Colours {
  return Object.fromEntries(
    [...document.querySelectorAll<HTMLElement>('[data-reason]')].map((element) => [
      element.dataset.reason,
      getComputedStyle(element).color,
    ]),
  );
}
