import type { Fault } from '../upstream/fault.js';
import type { RawResult } from './raw-result.js';

/** One JSON-RPC call. */
export interface Call {
  method: string;
  params: readonly unknown[];
  /** The block it is about, for messages. */
  block?: number;
  /** Expected size of the answer, relative to other calls of this method (1 if unknown). */
  weight: number;
  /**
   * Sizes and latencies are learned per method; calls of another nature (the head, without its transactions) are
   * learned under this name instead.
   */
  learnedAs?: string;
  /**
   * How an answer beyond the body limit is handled: `elements` streams the result array, `assemble` collects it up to
   * the hard limit, absent refuses it.
   */
  oversize?: 'elements' | 'assemble';
  /** A usual answer is not parsed until its value is read (`Answer.raw`). */
  raw?: boolean;
}

/** The outcome of a call. */
export type Answer =
  /** Where `raw` is there, reading `value` parses it, and throws NODE_NOT_JSON_RPC if it is no JSON. */
  | { ok: true; readonly value: unknown; raw?: RawResult; elements?: undefined; bytes: number }
  | { ok: true; value?: undefined; raw?: undefined; elements: AsyncIterable<unknown>; bytes: number }
  | { ok: false; fault: Fault };

/** An answer that is no fault. */
export type GoodAnswer = Extract<Answer, { ok: true }>;

/** The call in words: `eth_getBlockByNumber for block 17`. */
export function describeCalls(calls: readonly Call[]): string {
  const first = calls[0];
  if (first === undefined) return 'nothing';
  if (calls.length === 1)
    return first.block === undefined ? first.method : `${first.method} for block ${first.block}`;
  const blocks = calls.flatMap((call) => (call.block === undefined ? [] : [call.block]));
  const about = blocks.length === 0 ? '' : ` for blocks ${Math.min(...blocks)} to ${Math.max(...blocks)}`;
  return `a batch of ${calls.length} ${first.method}${about}`;
}
