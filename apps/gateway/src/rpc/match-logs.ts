import type { ResultCheck } from '@packhouse/node-rpc';
import { type Expected, RecordCheck } from './check-records.js';
import type { LogFilter } from './log-filter.js';

/** Room for a field's value: an address, or four topics. */
const VALUE_BYTES = 400;

/**
 * The check that every log of an answer is of the range, or of the block with the hash, that none is there twice, and, in the
 * beginning of the answer, that each matches the filter: else a node sent the answer to another question. A field that a log
 * does not have is not missed, nor a topic that may be any: nodes differ in whether it must be there. `to` is null if the
 * range ends with a tag; without a range it is one block of a tag.
 */
export function matchesFilter(
  { address, blockHash, topics }: LogFilter,
  range?: { from: number; to: number | null },
): () => ResultCheck {
  const ofAddress = (value: string): boolean => {
    const found = /^\s*:\s*"(0x[0-9a-f]{40})"/i.exec(value)?.[1]?.toLowerCase();
    return found === undefined || address?.includes(found) === true;
  };
  const withTopics = (value: string): boolean => {
    const list = /^\s*:\s*\[([^\]]*)\]/.exec(value)?.[1];
    if (list === undefined) return true;
    const found = list.toLowerCase().match(/0x[0-9a-f]{64}/g) ?? [];
    return topics?.every((any, at) => any === null || any.includes(found[at] ?? '')) === true;
  };
  const expected: Expected = {
    beginning: (bytes) =>
      (address === undefined || every(bytes, '"address"', ofAddress)) &&
      (topics === undefined || every(bytes, '"topics"', withTopics)),
    logs: true,
    blocks: range && { from: range.from, to: range.to ?? Number.POSITIVE_INFINITY },
    oneBlock: range === undefined,
    hash: blockHash === undefined ? undefined : { field: 'blockHash', value: blockHash },
  };
  return () => new RecordCheck(expected);
}

/** Whether the text behind every occurrence of a field passes; no value of a log holds a quotation mark. */
function every(result: Buffer, field: string, passes: (value: string) => boolean): boolean {
  for (let at = result.indexOf(field); at !== -1; at = result.indexOf(field, at + field.length)) {
    const start = at + field.length;
    if (!passes(result.toString('latin1', start, start + VALUE_BYTES))) return false;
  }
  return true;
}

/**
 * Counts a short text in JSON that comes in pieces, by the native search instead of byte by byte.
 */
export function countText(pieces: readonly Buffer[], text: string): number {
  let count = 0;
  /** The end of the last piece, too short to hold the text. */
  let end = '';
  for (const bytes of pieces) {
    const over = end + bytes.toString('latin1', 0, text.length - 1);
    if (over.includes(text)) count += 1;
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) count += 1;
    end = (end + bytes.toString('latin1', Math.max(0, bytes.length - text.length + 1))).slice(
      1 - text.length,
    );
  }
  return count;
}
