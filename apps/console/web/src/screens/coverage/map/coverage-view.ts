/** Blocks from..to, both shown. */
export interface View {
  from: number;
  to: number;
}

const toBlocks = ({ from, to }: View): number => to - from + 1;

/** Moves and cuts a view so that it is within the whole, keeping its size if it can. */
export function moveWithin({ from, to }: View, whole: View): View {
  const size = Math.min(Math.max(1, to - from + 1), toBlocks(whole));
  const start = Math.min(Math.max(from, whole.from), whole.to - size + 1);
  return { from: start, to: start + size - 1 };
}

/** The block at a place, 0 being the left edge and 1 the right one. */
export function getBlock(view: View, place: number): number {
  return Math.min(view.to, Math.max(view.from, view.from + Math.floor(place * toBlocks(view))));
}

/** Shows `factor` times as many blocks, at least one; the block at `place` stays where it is. */
export function zoom(view: View, whole: View, factor: number, place = 0.5): View {
  const before = toBlocks(view);
  // A step is a block at least, or a small view would never change.
  const scaled = Math.round(before * factor);
  const size = Math.max(1, scaled === before ? before + Math.sign(factor - 1) : scaled);
  const from = getBlock(view, place) - Math.min(size - 1, Math.floor(place * size));
  return moveWithin({ from, to: from + size - 1 }, whole);
}

/** Moves by a share of what is shown: negative is towards the first block. */
export function pan(view: View, whole: View, share: number): View {
  const by = Math.sign(share) * Math.max(1, Math.round(Math.abs(share) * toBlocks(view)));
  return moveWithin({ from: view.from + by, to: view.to + by }, whole);
}

/** What a key does to a view; null: nothing. */
export function applyKey(key: string, view: View, whole: View): View | null {
  const size = toBlocks(view);
  switch (key) {
    case '+':
    case '=':
      return zoom(view, whole, 0.5);
    case '-':
    case '_':
      return zoom(view, whole, 2);
    case 'ArrowLeft':
      return pan(view, whole, -0.25);
    case 'ArrowRight':
      return pan(view, whole, 0.25);
    case 'Home':
      return moveWithin({ from: whole.from, to: whole.from + size - 1 }, whole);
    case 'End':
      return moveWithin({ from: whole.to - size + 1, to: whole.to }, whole);
    case '0':
      return whole;
    default:
      return null;
  }
}

/** Reads `12,000-13,999`, also with other dashes, or one block; null: it is neither, or not of the whole. */
export function parseRange(text: string, whole: View): View | null {
  const found = /^\s*(\d[\d,_]*)\s*(?:(?:-|–|—|to)\s*(\d[\d,_]*)\s*)?$/.exec(text);
  if (found === null) return null;
  const [from, to] = [found[1], found[2] ?? found[1]].map((digits) => Number(digits?.replace(/[,_]/g, '')));
  if (from === undefined || to === undefined || to < from || from > whole.to || to < whole.from) return null;
  return { from: Math.max(from, whole.from), to: Math.min(to, whole.to) };
}

/** The blocks between two places of a view, in any order. */
export function selectBetween(view: View, a: number, b: number): View {
  return { from: getBlock(view, Math.min(a, b)), to: getBlock(view, Math.max(a, b)) };
}

/** Share of a view by which a key moves the end of a selection. */
const SELECT_STEP = 1 / 40;

/** What Shift and an arrow key do to a selection, which begins in the middle of the view; null: nothing. */
export function extendSelection(key: string, selected: View | null, view: View): View | null {
  const by = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (by === 0) return null;
  const middle = getBlock(view, 0.5);
  const { from, to } = selected ?? { from: middle, to: middle };
  const step = by * Math.max(1, Math.round(toBlocks(view) * SELECT_STEP));
  return { from, to: Math.min(view.to, Math.max(from, to + step)) };
}
