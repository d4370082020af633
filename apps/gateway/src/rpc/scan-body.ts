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
 * Refuses a body that would take long to parse: JSON costs by its parts, of which a byte or two can make one, not by its
 * length. One pass over its bytes, which ends where there is too much. Throws the problems `request-malformed` (nested too
 * deeply), `batch-too-large` and `body-too-large`. Whether it is JSON is not asked.
 */
export function expectParsable(body: Buffer, maxCalls: number): void {
  const { length } = body;
  const most = Math.max(MAX_PARTS, maxCalls * PARTS_PER_CALL);
  let depth = 0;
  let [parts, items] = [1, 1];
  let isBatch = false;
  const countPart = (): void => {
    parts += 1;
    if (parts <= most) return;
    throw new Problem('body-too-large', {
      detail: `A body has ${most} elements, members and names at most; this one has more.`,
      members: { limit: most },
    });
  };
  for (let at = 0; at < length; at++) {
    switch (body[at]) {
      case QUOTE:
        at = endOfString(body, at);
        break;
      case COLON:
        countPart();
        break;
      case COMMA:
        countPart();
        if (depth !== 1) break;
        items += 1;
        if (isBatch && items > maxCalls) {
          throw new Problem('batch-too-large', {
            detail: `A batch has ${maxCalls} calls at most; this one has more.`,
            members: { limit: maxCalls },
          });
        }
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (depth === 0) isBatch = body[at] === OPEN_BRACKET;
        depth += 1;
        countPart();
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
}

/** Where the string that begins at `from` ends, or where the body does. */
function endOfString(body: Buffer, from: number): number {
  for (let end = body.indexOf(QUOTE, from + 1); end !== -1; end = body.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (body[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return body.length;
}
