import { PackhouseError } from '@packhouse/runtime';
import { SEGMENT_BLOCKS, type StageRequest } from '../database.js';

/** Refuses what no caller may ask for: gaps, borders crossed, fragments that do not cover the blocks. */
export function checkRequest(request: StageRequest): { start: number; end: number } {
  const first = request.blocks[0];
  const last = request.blocks.at(-1);
  if (first === undefined || last === undefined) throw fault(request, 'it has no blocks');
  const [start, end] = [first.number, last.number];
  if (!Number.isSafeInteger(start) || start < 0) throw fault(request, `block ${start} is not a number`);
  request.blocks.forEach((block, index) => {
    if (block.number !== start + index) throw fault(request, `block ${start + index} is missing`);
  });
  if (Math.floor(start / SEGMENT_BLOCKS) !== Math.floor(end / SEGMENT_BLOCKS)) {
    throw fault(request, `${start}-${end} crosses the border of a segment`);
  }
  for (const { kind, fragments } of request.kinds) {
    let next = start;
    for (const fragment of fragments) {
      if (fragment.startBlock !== next || fragment.endBlock < next) {
        throw fault(request, `the fragments of ${kind} leave out block ${next}`);
      }
      next = fragment.endBlock + 1;
    }
    if (next !== end + 1)
      throw fault(request, `the fragments of ${kind} end at ${next - 1} instead of ${end}`);
  }
  return { start, end };
}

function fault(request: StageRequest, what: string): PackhouseError {
  return new PackhouseError({
    code: 'INTERNAL',
    message: `A run of ${request.network} cannot be staged: ${what}.`,
    data: { network: request.network },
  });
}
