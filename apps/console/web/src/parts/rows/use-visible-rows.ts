import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Tables with fewer rows have all of them in the page. */
const MIN_ROWS = 120;
/** Rows beyond the edges of the window, so that one that scrolls does not see them come. */
const MARGIN = 15;
/** Height of a row that was not shown yet, in pixels. */
const USUAL_PX = 48;

/** The rows that are in the page, and the height of those above and below, in pixels. */
interface VisibleRows {
  first: number;
  past: number;
  above: number;
  below: number;
}

/**
 * Which rows of a long table are in the page: those in the window and a few around them. Heights are measured once a row
 * was shown, so that the table does not jump; on paper there are all rows.
 */
export function useVisibleRows(
  count: number,
): VisibleRows & { body: RefObject<HTMLTableSectionElement | null> } {
  const body = useRef<HTMLTableSectionElement>(null);
  const heights = useRef<number[]>([]);
  const [range, setRange] = useState({ first: 0, past: MIN_ROWS });
  const isLong = count > MIN_ROWS;
  const first = isLong ? Math.min(range.first, Math.max(0, count - 1)) : 0;
  const past = isLong ? Math.min(count, Math.max(range.past, first + 1)) : count;
  const heightOf = (at: number): number => heights.current[at] ?? USUAL_PX;
  const sum = (from: number, to: number): number => {
    let px = 0;
    for (let at = from; at < to; at++) px += heightOf(at);
    return px;
  };

  useLayoutEffect(() => {
    if (!isLong || body.current === null) return;
    const rows = [...body.current.querySelectorAll<HTMLElement>('tr[aria-rowindex]')];
    for (const [at, row] of rows.entries()) {
      const next = rows[at + 1];
      // From top to top: cards of a narrow screen have margins.
      heights.current[first + at] = next === undefined ? row.offsetHeight : next.offsetTop - row.offsetTop;
    }
  });
  useEffect(() => {
    if (!isLong) return;
    const look = (): void => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      let [at, px] = [0, 0];
      while (at < count - 1 && top + px + heightOf(at) < 0) px += heightOf(at++);
      const begin = Math.max(0, at - MARGIN);
      while (at < count && top + px < innerHeight) px += heightOf(at++);
      const end = Math.min(count, at + MARGIN);
      setRange((before) =>
        before.first === begin && before.past === end ? before : { first: begin, past: end },
      );
    };
    const showAll = (): void => setRange({ first: 0, past: count });
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    addEventListener('beforeprint', showAll);
    addEventListener('afterprint', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
      removeEventListener('beforeprint', showAll);
      removeEventListener('afterprint', look);
    };
  }, [count, isLong]);
  return { body, first, past, above: sum(0, first), below: sum(past, count) };
}
