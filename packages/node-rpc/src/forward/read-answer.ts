import type { ResultBody } from './forwarder.js';
import { envelopeBehind, findValue, TAIL_BYTES, type ValueStart } from './split-envelope.js';

/** An answer as it was read: the value's bytes, still without judgement. */
export type ReadAnswer =
  | { kind: 'result'; body: ResultBody }
  | { kind: 'error'; error: Buffer }
  | { kind: 'nonsense'; what: string }
  | { kind: 'too-large' };

/** Answers up to this size are read whole before a byte goes out, so that another node can be asked if this one breaks off. */
const STREAM_FROM = 262_144;
/** All that may stand before a value. */
const HEAD_BYTES = 4_096;

/**
 * Reads an answer's body. What is larger than STREAM_FROM is handed on piece by piece, unless `whole` is asked for.
 * Errors of the connection are thrown.
 */
export async function readAnswer(
  chunks: AsyncIterator<Buffer>,
  { maxBytes, whole }: { maxBytes: number; whole: boolean },
): Promise<ReadAnswer> {
  const limit = whole ? Number.POSITIVE_INFINITY : STREAM_FROM;
  const pieces: Buffer[] = [];
  let length = 0;
  let ended = false;
  let found: ValueStart | null = null;
  while (!ended && length <= limit) {
    const step = await chunks.next();
    if (step.done === true) ended = true;
    else {
      pieces.push(step.value);
      length += step.value.length;
      if (length > maxBytes + HEAD_BYTES) return { kind: 'too-large' };
      if (found === null && length >= HEAD_BYTES) {
        found = findValue(Buffer.concat(pieces));
        if (found === null) return { kind: 'nonsense', what: 'something that is not JSON-RPC' };
      }
    }
  }
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length);
  found ??= findValue(bytes);
  if (found === null) return { kind: 'nonsense', what: 'something that is not JSON-RPC' };
  if (!ended && found.kind === 'result') {
    return { kind: 'result', body: streamed(bytes.subarray(found.start), chunks, maxBytes) };
  }
  if (!ended) return { kind: 'too-large' };
  const behind = envelopeBehind(bytes.subarray(-TAIL_BYTES));
  if (behind === -1) return { kind: 'nonsense', what: 'an answer that breaks off' };
  const value = bytes.subarray(found.start, bytes.length - behind);
  if (value.length === 0) return { kind: 'nonsense', what: 'an answer without a value' };
  if (value.length > maxBytes) return { kind: 'too-large' };
  return found.kind === 'error'
    ? { kind: 'error', error: value }
    : { kind: 'result', body: { bytes: value, rest: null } };
}

/** The last bytes are held back until it is known what of them is the envelope's. */
function streamed(begin: Buffer, chunks: AsyncIterator<Buffer>, maxBytes: number): ResultBody {
  const sure = Math.max(0, begin.length - TAIL_BYTES);
  async function* rest(): AsyncGenerator<Buffer> {
    let held = begin.subarray(sure);
    let sent = sure;
    for (;;) {
      const step = await chunks.next();
      if (step.done === true) break;
      const joined = Buffer.concat([held, step.value]);
      const ready = Math.max(0, joined.length - TAIL_BYTES);
      held = joined.subarray(ready);
      sent += ready;
      if (sent > maxBytes) throw new Error('the answer grew beyond its limit');
      if (ready > 0) yield joined.subarray(0, ready);
    }
    const behind = envelopeBehind(held);
    if (behind === -1) throw new Error('the answer breaks off');
    yield held.subarray(0, held.length - behind);
  }
  return { bytes: begin.subarray(0, sure), rest: rest() };
}
