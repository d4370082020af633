import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatBlocks, formatCount } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { onThemeChange } from '../../lib/theme.js';
import { type Colours, drawMap, ROW } from './map/coverage-canvas.js';
import { type CoverageMap, getSpot } from './map/coverage-map.js';
import { applyKey, extendSelection, getBlock, selectBetween, type View, zoom } from './map/coverage-view.js';

/** A turn of the wheel by so many pixels shows twice or half as many blocks. */
const WHEEL_PIXELS = 240;
const CLICK_FACTOR = 1 / 8;
const MAX_PIXELS = 4_000;
/** A pointer that moved by less has clicked. */
const DRAG_PIXELS = 4;

/**
 * The map on a canvas: wheel, click and keys zoom, dragging selects blocks; the line below describes the block at the
 * pointer or in the middle. While dragging only the frame of the selection moves, nothing is drawn anew.
 */
export function CoverageCanvas(props: {
  map: CoverageMap;
  view: View;
  bounds: View;
  show: (view: View) => void;
  selected: View | null;
  select: (selected: View | null) => void;
}) {
  const { map, view, bounds, show, selected, select } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [place, setPlace] = useState({ x: 0.5, row: 0 });
  /** Where the pointer went down, and whether it moved since. */
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const { pixels, scheme } = useCanvasLook(canvas);
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
    const extended = event.shiftKey ? extendSelection(event.key, selected, view) : null;
    if (extended !== null || (event.key === 'Escape' && selected !== null)) {
      event.preventDefault();
      select(extended);
      return;
    }
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const next = applyKey(event.key, view, bounds);
    if (next === null && by === 0) return;
    event.preventDefault();
    setPlace({ x: 0.5, row: Math.min(map.kinds.length - 1, Math.max(0, place.row + by)) });
    if (next !== null) show(next);
  };
  const move = (event: PointerEvent): void => {
    const here = getPlace(event);
    setPlace(here);
    const begun = drag.current;
    if (begun === null) return;
    begun.moved ||= Math.abs(here.x - begun.x) * pixels > DRAG_PIXELS;
    if (begun.moved) select(selectBetween(view, begun.x, here.x));
  };
  return (
    <>
      <div class="map">
        <KindNames map={map} />
        <div class="map-frame">
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            style={{ height: `${height}px` }}
            aria-label={`Coverage of blocks ${formatBlocks(view)}. Plus and minus zoom, arrow keys move, with Shift they select, Home and End go to the first and last block, 0 shows all. The table below lists the same holes.`}
            aria-describedby="map-spot"
            onWheel={wheel}
            onKeyDown={key}
            onPointerDown={(event) => {
              if (event.button !== 0) return;
              event.currentTarget.setPointerCapture(event.pointerId);
              drag.current = { x: getPlace(event).x, moved: false };
            }}
            onPointerMove={move}
            onPointerUp={(event) => {
              const { moved = true } = drag.current ?? {};
              drag.current = null;
              if (!moved) show(zoom(view, bounds, CLICK_FACTOR, getPlace(event).x));
            }}
            onPointerCancel={() => {
              drag.current = null;
            }}
          />
          {selected !== null && <Selected view={view} selected={selected} />}
        </div>
      </div>
      <Ends view={view} />
      <p id="map-spot" aria-live="polite">
        {describe(map, getBlock(view, place.x), place.row)}
      </p>
    </>
  );
}

/** The width of a canvas in CSS pixels, and a number that changes if its colours do. */
function useCanvasLook(canvas: RefObject<HTMLCanvasElement | null>) {
  const [pixels, setPixels] = useState(0);
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
  }, [canvas]);
  return { pixels, scheme };
}

const KindNames = ({ map }: { map: CoverageMap }) => (
  <div class="map-kinds" aria-hidden="true">
    {map.kinds.map(({ kind }) => (
      <div key={kind}>{kind}</div>
    ))}
  </div>
);

const Ends = ({ view }: { view: View }) => (
  <p class="map-ends" aria-hidden="true">
    <span>{formatCount(view.from)}</span>
    <span>{formatCount(view.to)}</span>
  </p>
);

/** The frame around the selected blocks, as far as they are shown. */
function Selected({ view, selected }: { view: View; selected: View }) {
  const blocks = view.to - view.from + 1;
  const [start, end] = [selected.from, selected.to + 1].map(
    (block) => Math.min(1, Math.max(0, (block - view.from) / blocks)) * 100,
  ) as [number, number];
  if (end <= start) return null;
  return <div class="map-selected" style={{ left: `${start}%`, width: `${end - start}%` }} />;
}

/** The column of a block in words. */
function describe(map: CoverageMap, block: number, at: number): string {
  const row = map.kinds[at] ?? map.kinds[0];
  const spot = row && getSpot(map, row, { from: block, to: block });
  if (!row || !spot) return `Block ${formatCount(block)}: loading…`;
  const blocks = spot.to - spot.from + 1;
  const where = `${blocks === 1 ? 'Block' : 'Blocks'} ${formatBlocks(spot)}, ${row.kind}`;
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
