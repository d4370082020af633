import { findElements, skipSpace } from '@packhouse/json';
import { findPlace, isWithoutId } from '../../upstream/request-ids.js';
import { AnswerReader, FOREIGN, type NoAnswer, type ReadAnswer } from './read-answer.js';

const OPEN_BRACKET = 0x5b;

/** The answer to one call of a batch, and its bytes. */
interface BatchItem {
  read: ReadAnswer;
  bytes: number;
}

/** The ids of a batch: so many from `firstId` on. */
interface BatchIds {
  firstId: number;
  calls: number;
}

interface BatchAnswer {
  /** In the order of the calls. */
  items: (BatchItem | undefined)[];
  /** There are answers to other requests, or several to one. */
  isCrossed: boolean;
}

/**
 * Finds the answers in the body of a batch, in any order; null if it is no list. A call without an answer, with several, or
 * with one that is no JSON-RPC has none here.
 */
export function readBatchAnswer(body: Buffer, { calls, firstId }: BatchIds): BatchAnswer | null {
  const items = new Array<BatchItem | undefined>(calls).fill(undefined);
  if (body[skipSpace(body, 0)] !== OPEN_BRACKET) return null;
  const several = new Set<number>();
  let isCrossed = false;
  for (const { start, end } of findItems(body)) {
    const { id, read } = readItem(body.subarray(start, end));
    const at = findPlace(id, firstId, calls);
    if (at === undefined) {
      isCrossed ||= read.kind === 'result' || !isWithoutId(id);
      continue;
    }
    if (items[at] !== undefined) several.add(at);
    items[at] = { read, bytes: end - start };
  }
  for (const at of several) items[at] = undefined;
  return {
    items: items.map((item) => (item?.read.kind === 'nonsense' ? undefined : item)),
    isCrossed: isCrossed || several.size > 0,
  };
}

/** The answer to a batch that is one answer for all its calls, such as an error. */
export function readJointAnswer(body: Buffer, { calls, firstId }: BatchIds): ReadAnswer {
  const { id, read } = readItem(body);
  return isWithoutId(id) || findPlace(id, firstId, calls) !== undefined ? read : FOREIGN;
}

/** Empty if the list does not end. */
function findItems(body: Buffer): { start: number; end: number }[] {
  try {
    return findElements(body);
  } catch {
    return [];
  }
}

function readItem(bytes: Buffer): { id: string | undefined; read: ReadAnswer } {
  const reader = new AnswerReader({ maxBytes: bytes.length }, null);
  const fault = reader.push(bytes) ?? reader.end();
  return { id: reader.id, read: fault ?? reader.whole() };
}

/** Collects a body of at most `maxBytes` without reading it, in place of an AnswerReader. */
export class BodyReader {
  readonly kind = 'result';
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  valueBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): NoAnswer | null {
    this.#chunks.push(chunk);
    this.valueBytes += chunk.length;
    return this.valueBytes > this.#maxBytes ? { kind: 'too-large' } : null;
  }

  take(): readonly Buffer[] {
    return this.#chunks;
  }

  end(): null {
    return null;
  }

  whole(): ReadAnswer {
    const [first] = this.#chunks;
    const bytes =
      this.#chunks.length === 1 ? (first as Buffer) : Buffer.concat(this.#chunks, this.valueBytes);
    return { kind: 'result', body: { bytes, rest: null } };
  }
}
