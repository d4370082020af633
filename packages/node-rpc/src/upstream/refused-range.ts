/** The limits in a node's refusal of eth_getLogs. */
export interface RefusedRange {
  /** Too much was found, whatever the width of the range: another range of that width may work. */
  logs: boolean;
  /** The widest range that it accepts, in blocks, if it names one. */
  blocks: number | null;
  /** The last block of a range from the same start that it says would work. */
  until: number | null;
  /** It does not say that the range is the reason. */
  unsure?: true;
}

export const UNSURE_RANGE: RefusedRange = { logs: false, blocks: null, until: null, unsure: true };

/** Too much was found, took too long to find, or is too large to send. */
const RESULTS =
  /(more than|exceed\w*|max\w*|limit\w*|over|cap of)\D{0,40}[\d,]+\s*k?\s*\b(results?|logs?|events?)\b|\b(results?|logs?|events?)\b\D{0,40}(exceed\w*|max\w*|limit\w*|more than)|max\w* (results|logs|events)|response (size|is too)|(response|result|body|payload) (is )?too (large|big|many)|size (limit )?exceed|too many (logs|results|events)|query (timeout|timed out|returned)/;
/** The range is wider than the node accepts. */
const WIDTH =
  /\branges?\b|max_gap|blocks? (distance|limit|count|span)|too many blocks|too wide|(number of|requested) blocks|query must be smaller|exceed\w* max\w* blocks?/;
/** A word by which a message is about a limit rather than about a wrong parameter. */
const LIMIT =
  /limit|max|exceed|wide|large|more than|greater than|smaller than|up to|over \d|too many|too big|timeout|timed out|this block range/;
/** geth's and Confura's messages for an invalid range. */
const WRONG = /invalid block range|begin block|from.{0,20}(greater|higher|after).{0,20}to\b/;

/** A limit after a word for one: `limited to a 10,000 range`, `maximum is set to 2048`, `0 - 10000 blocks`. */
const NAMED =
  /(?:max(?:imum|_gap)?|limit(?:ed)?|up to|over|exceeds?|than|cap)\b[^\d]{0,48}?(?:0\s*-\s*)?(\d[\d,_]*)\s*(k\b)?/g;
const HEX_RANGE = /\[\s*0x[0-9a-f]+\s*,\s*(0x[0-9a-f]{1,13})\s*\]/;
const DECIMAL_RANGE = /(?:retry|try) with (?:the |this )?(?:block )?range:? \[?(\d+)\s*(?:-|,|to)\s*(\d+)/;

/** The bounds of the refused range, as Conflux names them beside its limit. */
const BOUNDS = /\b(?:from|to): \d+/g;

/**
 * Reads a node's error; null if it is no refusal of a range. The codes say little (-32005, -32602, -32000, -32600,
 * -32614, 35 are all in use), so the message decides, and the data where the message says less; the test has those of
 * today's nodes and providers.
 */
export function parseRefusedRange(code: number, message: string, data = ''): RefusedRange | null {
  const said = parseText(code, message.toLowerCase());
  const isClear = said !== null && (said.logs || said.blocks !== null || said.until !== null);
  if (data === '' || isClear) return said;
  return parseText(code, `${message} ${data}`.toLowerCase()) ?? said;
}

/** Whether an error is about bounds that no range may have. */
export function isWrongRange(message: string): boolean {
  return WRONG.test(message.toLowerCase());
}

/** Text of the data of an error object. */
export function readRpcData(error: Buffer): string {
  try {
    const { data } = JSON.parse(error.toString('utf8')) as { data?: unknown };
    return typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  } catch {
    return '';
  }
}

function parseText(code: number, text: string): RefusedRange | null {
  const results = RESULTS.test(text);
  if (!results && !WIDTH.test(text) && !(code === -32005 && /limit exceeded/.test(text))) return null;
  if (!LIMIT.test(text) || WRONG.test(text)) return null;
  const until = HEX_RANGE.exec(text)?.[1] ?? DECIMAL_RANGE.exec(text)?.[2];
  return {
    logs: results,
    blocks: results ? null : parseNamedBlocks(text.replaceAll(BOUNDS, '')),
    until: until === undefined ? null : Number(until),
  };
}

/** The smallest of the named numbers: many messages have the refused width too. */
function parseNamedBlocks(text: string): number | null {
  let smallest: number | null = null;
  for (const [, digits, thousands] of text.matchAll(NAMED)) {
    const blocks = Number((digits as string).replaceAll(/[,_]/g, '')) * (thousands === undefined ? 1 : 1_000);
    if (blocks > 0 && Number.isSafeInteger(blocks)) smallest = Math.min(blocks, smallest ?? blocks);
  }
  return smallest;
}
