import { Problem } from '../http/problem.js';

/** Nesting beyond this is refused: no request needs it. */
const MAX_DEPTH = 64;
/** Parts of a body at most: elements, lists, objects, members and their names. A usual call has 10 to 25. */
const MAX_PARTS = 32_768;
/** Parts for each call of the largest batch, where more calls are allowed than fit into MAX_PARTS. */
const PARTS_PER_CALL = 32;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Refuses a body that would take long to parse, by one pass over its bytes: JSON costs by its parts, of which a byte or
 * two can make one, not by its length. Throws the problems `request-malformed` (nested too deeply), `batch-too-large` and
 * `body-too-large`. Whether it is JSON is not asked.
 */
export function expectParsable(body: Buffer, maxCalls: number): void {
  const { length } = body;
  let depth = 0;
  let [parts, items] = [1, 1];
  let isBatch = false;
  for (let at = 0; at < length; at++) {
    switch (body[at]) {
      case QUOTE:
        for (at += 1; at < length && body[at] !== QUOTE; at++) if (body[at] === BACKSLASH) at += 1;
        break;
      case COLON:
        parts += 1;
        break;
      case COMMA:
        parts += 1;
        if (depth === 1) items += 1;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (depth === 0) isBatch = body[at] === OPEN_BRACKET;
        depth += 1;
        parts += 1;
        if (depth > MAX_DEPTH) {
          throw new Problem('request-malformed', { detail: 'The body is nested too deeply.' });
        }
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      default:
    }
  }
  if (isBatch && items > maxCalls) {
    throw new Problem('batch-too-large', {
      detail: `A batch has ${maxCalls} calls at most; this one has ${items}.`,
      members: { limit: maxCalls },
    });
  }
  const most = Math.max(MAX_PARTS, maxCalls * PARTS_PER_CALL);
  if (parts > most) {
    throw new Problem('body-too-large', {
      detail: `A body has ${most} elements, members and names at most; this one has ${parts}.`,
      members: { limit: most },
    });
  }
}
