import type { Kind } from '@packhouse/chain';

/** The fields of an answer of `bundle-api/coverage` that are checked. */
export interface CoverageAnswer {
  page: string;
  next: string | null;
  completeThrough: number | null;
  kinds: { kind: Kind; published: string[]; holes: { range: string; reason: string; needs: string }[] }[];
}

/**
 * What is wrong with an answer in itself, or null: published ranges and holes must tile the page, and each hole must
 * have a reason.
 */
export function checkCoverageAnswer(answer: CoverageAnswer): string | null {
  const [first, last] = parseRange(answer.page);
  for (const { kind, published, holes } of answer.kinds) {
    const silent = holes.find(({ reason, needs }) => !reason || !needs);
    if (silent !== undefined) return `${kind} ${silent.range} has no reason`;
    const tiles = [...published, ...holes.map(({ range }) => range)]
      .map(parseRange)
      .sort((a, b) => a[0] - b[0]);
    let next = first;
    for (const [start, end] of tiles) {
      if (start !== next) return `${kind}: ${start > next ? 'nothing is said of' : 'twice is said'} ${next}`;
      next = end + 1;
    }
    if (next !== last + 1) return `${kind}: nothing is said of ${next} to ${last}`;
  }
  return null;
}

/** `5-9` as `[5, 9]`. */
export function parseRange(range: string): [start: number, end: number] {
  return range.split('-').map(Number) as [number, number];
}
