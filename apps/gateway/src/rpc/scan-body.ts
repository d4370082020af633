import { findExcess } from '@packhouse/json';
import { Problem } from '../http/problem.js';

/** Nesting beyond this is refused: no request needs it. */
const MAX_DEPTH = 64;
/** Parts of a body at most: elements, lists, objects, members and their names. A usual call has 10 to 25. */
const MAX_PARTS = 32_768;
/** Parts for each call of the largest batch, where more calls are allowed than fit into MAX_PARTS. */
const PARTS_PER_CALL = 32;

/**
 * Refuses a body that would take long to parse: JSON costs by its parts, of which a byte or two can make one, not by its
 * length. One pass over its bytes, which ends where there is too much. Throws the problems `request-malformed` (nested too
 * deeply), `batch-too-large` and `body-too-large`. Whether it is JSON is not asked.
 */
export function expectParsable(body: Buffer, maxCalls: number): void {
  const parts = Math.max(MAX_PARTS, maxCalls * PARTS_PER_CALL);
  const excess = findExcess(body, { depth: MAX_DEPTH, parts, elements: maxCalls });
  if (excess === null) return;
  if (excess === 'depth')
    throw new Problem('request-malformed', { detail: 'The body is nested too deeply.' });
  if (excess === 'elements') {
    throw new Problem('batch-too-large', {
      detail: `A batch has ${maxCalls} calls at most; this one has more.`,
      members: { limit: maxCalls },
    });
  }
  throw new Problem('body-too-large', {
    detail: `A body has ${parts} elements, members and names at most; this one has more.`,
    members: { limit: parts },
  });
}
