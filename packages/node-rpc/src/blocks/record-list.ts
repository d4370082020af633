import type { GoodAnswer } from '../calls/call.js';
import type { BlockFacts } from '../calls/capabilities.js';
import type { RawResult } from '../calls/raw-result.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import type { Part } from './lazy-block.js';

/** A list that a call was answered with. */
interface RecordList extends Part<unknown[]> {
  length: number;
  /** How many elements are not null. */
  present: number;
  first: unknown;
}

/** The list of an answer, or its fault if it is malformed; null if it is none. Of bytes that came the first is parsed. */
export function readList(answer: GoodAnswer): RecordList | Fault | null {
  const { raw } = answer;
  if (raw !== undefined && raw.outlined.objects !== null) {
    const { first, objects } = raw.outlined;
    const parsed = first === null ? { value: undefined } : raw.readPart(first);
    if (isFault(parsed)) return parsed;
    return new RawList(raw, objects, parsed.value);
  }
  const parsed = raw?.read() ?? { value: answer.value };
  if (isFault(parsed)) return parsed;
  return Array.isArray(parsed.value) ? toList(parsed.value) : null;
}

class RawList implements RecordList {
  readonly raw: Buffer;
  readonly length: number;
  readonly present: number;
  readonly first: unknown;
  readonly #result: RawResult;

  constructor(result: RawResult, objects: number, first: unknown) {
    this.raw = result.bytes;
    this.length = objects;
    this.present = objects;
    this.first = first;
    this.#result = result;
  }
  get value(): unknown[] {
    return this.#result.value as unknown[];
  }
}

/** A list that was parsed. */
export function toList(value: unknown[]): RecordList {
  const present = value.filter((record) => record !== null && record !== undefined).length;
  return { length: value.length, present, first: value[0], value };
}

/** A record that names another block than the requested one: the chain was reorganised in between. */
export function checkBlockHash(
  asked: Parameters<typeof makeFault>[0],
  record: unknown,
  block: Pick<BlockFacts, 'hash'>,
): Fault | null {
  const named =
    typeof record === 'object' && record !== null && 'blockHash' in record ? record.blockHash : undefined;
  if (typeof named !== 'string' || named.toLowerCase() === block.hash.toLowerCase()) return null;
  const happened = `answered with data of block ${asked.label.quote(named)} instead of ${block.hash}`;
  return makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'here', {
    hint: 'The chain was reorganised between two calls; the block is fetched again.',
  });
}
