import type { ResultBody } from './forwarder.js';
import { envelopeBehind, findValue, TAIL_BYTES, type ValueStart } from './split-envelope.js';

/** An answer as it was read: the value's bytes, not judged yet. */
export type ReadAnswer =
  | { kind: 'result'; body: ResultBody }
  | { kind: 'error'; error: Buffer }
  | { kind: 'nonsense'; what: string }
  | { kind: 'too-large' };

/** Length of all that may precede a value. */
export const HEAD_BYTES = 4_096;

export const NO_JSON_RPC: ReadAnswer = { kind: 'nonsense', what: 'something that is not JSON-RPC' };

/** Reads a complete answer without a copy; `found`: the place of its value, if already known. */
export function answerOf(bytes: Buffer, maxBytes: number, found = findValue(bytes)): ReadAnswer {
  if (found === null) return NO_JSON_RPC;
  const behind = envelopeBehind(bytes.subarray(-TAIL_BYTES));
  if (behind === -1) return { kind: 'nonsense', what: 'an answer that breaks off' };
  const value = bytes.subarray(found.start, bytes.length - behind);
  if (value.length === 0) return { kind: 'nonsense', what: 'an answer without a value' };
  if (value.length > maxBytes) return { kind: 'too-large' };
  return found.kind === 'error'
    ? { kind: 'error', error: value }
    : { kind: 'result', body: { bytes: value, rest: null } };
}

/**
 * Reads a complete large answer, in pieces that are joined only if a caller needs that: a copy of megabytes costs more
 * than all other work of forwarding. The first piece holds the beginning of the value.
 */
export function answerOfPieces(pieces: readonly Buffer[], found: ValueStart, maxBytes: number): ReadAnswer {
  const value = [...pieces];
  value[0] = (value[0] as Buffer).subarray(found.start);
  // The end of the envelope lies in one piece.
  while (value.length > 1 && (value.at(-1) as Buffer).length < TAIL_BYTES) {
    value.push(Buffer.concat(value.splice(-2)));
  }
  const last = value.pop() as Buffer;
  const behind = envelopeBehind(last.subarray(-TAIL_BYTES));
  if (behind === -1) return { kind: 'nonsense', what: 'an answer that breaks off' };
  value.push(last.subarray(0, last.length - behind));
  const length = value.reduce((sum, piece) => sum + piece.length, 0);
  if (length > maxBytes) return { kind: 'too-large' };
  return found.kind === 'error'
    ? { kind: 'error', error: Buffer.concat(value) }
    : { kind: 'result', body: new PiecedBody(value) };
}

class PiecedBody implements ResultBody {
  readonly rest = null;
  readonly pieces: readonly Buffer[];
  #bytes: Buffer | undefined;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.concat(this.pieces);
    return this.#bytes;
  }
}

/**
 * A result of which only the beginning has arrived; the rest is forwarded as it arrives, without copies. The last bytes
 * are delayed until it is known which of them belong to the envelope.
 */
export function streamedAnswer(
  bytes: Buffer,
  found: ValueStart,
  chunks: AsyncIterator<Buffer>,
  maxBytes: number,
): ReadAnswer {
  const begin = bytes.subarray(found.start);
  const sure = Math.max(0, begin.length - TAIL_BYTES);
  async function* rest(): AsyncGenerator<Buffer> {
    let held = begin.subarray(sure);
    let sent = sure;
    try {
      for (;;) {
        const step = await chunks.next();
        if (step.done === true) break;
        const chunk = step.value;
        let ready: readonly Buffer[];
        if (chunk.length >= TAIL_BYTES) {
          const split = chunk.length - TAIL_BYTES;
          ready = split === 0 ? [held] : [held, chunk.subarray(0, split)];
          held = chunk.subarray(split);
        } else {
          const joined = Buffer.concat([held, chunk]);
          const split = Math.max(0, joined.length - TAIL_BYTES);
          ready = [joined.subarray(0, split)];
          held = joined.subarray(split);
        }
        for (const piece of ready) {
          sent += piece.length;
          if (sent > maxBytes) throw new Error('the answer grew beyond its limit');
          if (piece.length > 0) yield piece;
        }
      }
    } finally {
      // An answer that is not read to its end would keep its connection for ever.
      await chunks.return?.();
    }
    const behind = envelopeBehind(held);
    if (behind === -1) throw new Error('the answer breaks off');
    yield held.subarray(0, held.length - behind);
  }
  const pieces = rest();
  const iterator: AsyncIterator<Buffer> = {
    next: () => pieces.next(),
    // A generator that has not begun would not come to its `finally`.
    async return() {
      await chunks.return?.();
      return pieces.return(undefined);
    },
  };
  const body = { bytes: begin.subarray(0, sure), rest: { [Symbol.asyncIterator]: () => iterator } };
  return { kind: 'result', body };
}
