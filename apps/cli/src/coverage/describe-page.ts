import { KINDS, type Kind } from '@packhouse/chain';
import type { Hole } from '@packhouse/database';
import { type CoveragePage, holeNeeds } from '@packhouse/pipeline';
import { formatCount } from '../format.js';
import { table } from '../io.js';

interface Line {
  start: number;
  end: number;
  state: string;
  needs: string;
  kinds: Kind[];
}

/**
 * A page of coverage as a table in the order of the blocks. What holds for several kinds alike is one line that names
 * them, so lines that overlap are where kinds disagree.
 */
export function describePage(page: CoveragePage): string {
  const all = page.kinds.length;
  const rows = linesOf(page).map(({ start, end, state, needs, kinds }) => [
    `${start}-${end}`,
    formatCount(end - start + 1),
    kinds.length === all && all > 1 ? 'all' : kinds.join(','),
    state,
    needs,
  ]);
  return table([['RANGE', 'BLOCKS', 'KINDS', 'STATE', 'WHAT IT NEEDS'], ...rows]);
}

function linesOf(page: CoveragePage): Line[] {
  const lines = new Map<string, Line>();
  const add = (kind: Kind, line: Omit<Line, 'kinds'>): void => {
    const name = `${line.start} ${line.end} ${line.state} ${line.needs}`;
    const there = lines.get(name);
    if (there === undefined) lines.set(name, { ...line, kinds: [kind] });
    else there.kinds.push(kind);
  };
  for (const { kind, published, holes } of page.kinds) {
    for (const { start, end } of published) add(kind, { start, end, state: 'published', needs: '' });
    for (const hole of holes) {
      add(kind, { start: hole.start, end: hole.end, state: stateOf(hole), needs: holeNeeds(hole) });
    }
  }
  const first = ({ kinds }: Line): number => KINDS.indexOf(kinds[0] as Kind);
  return [...lines.values()].sort((a, b) => a.start - b.start || first(a) - first(b));
}

function stateOf({ reason, staged }: Hole): string {
  return staged && reason === 'not-finalized' ? 'not-finalized (here)' : reason;
}
