import { findElements, skipSpace } from '@packhouse/json';
import { AnswerReader, type NoAnswer, type ReadAnswer } from './read-answer.js';

const OPEN_BRACKET = 0x5b;

/** The answer to one call of a batch, and its bytes. */
interface BatchItem {
  read: ReadAnswer;
  bytes: number;
}

/**
 * Finds the answers in the body of a batch with the ids 1 to `calls`, in any order; null if it is no list. A call without
 * an answer, with several, or with one that is no JSON-RPC has none here.
 */
export function readBatchAnswer(body: Buffer, calls: number): (BatchItem | undefined)[] | null {
  const items = new Array<BatchItem | undefined>(calls).fill(undefined);
  if (body[skipSpace(body, 0)] !== OPEN_BRACKET) return null;
  const several = new Set<number>();
  for (const { start, end } of findItems(body)) {
    const item = readItem(body.subarray(start, end));
    const at = Number(item.id) - 1;
    if (!(at in items)) continue;
    if (items[at] !== undefined) several.add(at);
    items[at] = { read: item.read, bytes: end - start };
  }
  for (const at of several) items[at] = undefined;
  return items.map((item) => (item?.read.kind === 'nonsense' ? undefined : item));
}

/** The answer to a batch that is one answer for all its calls, such as an error. */
export function readJointAnswer(body: Buffer): ReadAnswer {
  return readItem(body).read;
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
  const reader = new AnswerReader({ maxBytes: bytes.length, anyId: true });
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
