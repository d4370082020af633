import type { Outlined } from '@packhouse/kernels';
import type { Scope } from '@packhouse/runtime';
import type { Account } from '../spending/spending.js';
import { type Asked, type Fault, isFault } from '../upstream/fault.js';
import type { NodeLabel } from '../upstream/label.js';
import type { ByteLease } from './byte-budget.js';

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

/** The context of a call. */
export interface CallContext {
  scope: Scope;
  /** The share of the byte budget that the answers use. */
  lease?: ByteLease | undefined;
  /** A small call whose answer is needed now: ignores the limit of requests in flight. */
  urgent?: boolean;
  /** Whom it is for; default: nobody. */
  account?: Account | undefined;
}

/** The outcome of a call. */
export type Answer =
  /** Where `raw` is there, reading `value` parses it, and throws NODE_NOT_JSON_RPC if it is no JSON. */
  | { ok: true; readonly value: unknown; raw?: RawResult; elements?: undefined; bytes: number }
  | { ok: true; value?: undefined; raw?: undefined; elements: AsyncIterable<unknown>; bytes: number }
  | { ok: false; fault: Fault };

/** An answer that is no fault. */
export type GoodAnswer = Extract<Answer, { ok: true }>;

/** The same fault as the outcome of each call. */
export function failAll(calls: readonly Call[], fault: Fault): Answer[] {
  return calls.map(() => ({ ok: false, fault }));
}

/** The calls as the sentence of a fault names them. */
export function toAsked(label: NodeLabel, calls: readonly Call[]): Asked {
  return { label, what: describeCalls(calls), block: calls[0]?.block };
}

/** The call in words: `eth_getBlockByNumber for block 17`. */
function describeCalls(calls: readonly Call[]): string {
  const first = calls[0];
  if (first === undefined) return 'nothing';
  if (calls.length === 1)
    return first.block === undefined ? first.method : `${first.method} for block ${first.block}`;
  const blocks = calls.flatMap((call) => (call.block === undefined ? [] : [call.block]));
  const about = blocks.length === 0 ? '' : ` for blocks ${Math.min(...blocks)} to ${Math.max(...blocks)}`;
  return `a batch of ${calls.length} ${first.method}${about}`;
}

/** The `result` of a call that is parsed only when somebody asks for it. */
export class RawResult {
  /**
   * ASCII: a part of the whole body, which stays in memory until the last block of its batch is released. Readers take the
   * blocks of a batch one after the other, and it has some 400 KB (batch-sizes.ts), no more than its parsed values would take.
   */
  readonly bytes: Buffer;
  /** Where its parts are; offsets are those of the body. */
  readonly outlined: Outlined;
  readonly #body: Buffer;
  readonly #malformed: (cause: unknown) => Fault;
  #fault: Fault | undefined;
  #parsed: { value: unknown } | undefined;

  /** `malformed` makes the fault of what is no JSON, at most once. */
  constructor(body: Buffer, outlined: Outlined, malformed: (cause: unknown) => Fault) {
    this.bytes = body.subarray(outlined.start, outlined.end);
    this.outlined = outlined;
    this.#body = body;
    this.#malformed = malformed;
  }

  /** Parses all of it, once. */
  read(): { value: unknown } | Fault {
    if (this.#parsed !== undefined) return this.#parsed;
    const parsed = this.readPart(this.outlined);
    if (!isFault(parsed)) this.#parsed = parsed;
    return parsed;
  }

  /** All of it. Throws NODE_NOT_JSON_RPC. */
  get value(): unknown {
    const parsed = this.read();
    if (isFault(parsed)) throw parsed.error;
    return parsed.value;
  }

  /** The bytes of a part of it. */
  toBytes({ start, end }: { start: number; end: number }): Buffer {
    return this.#body.subarray(start, end);
  }

  /** Parses a part of it. */
  readPart({ start, end }: { start: number; end: number }): { value: unknown } | Fault {
    return this.#parse(this.#text(start, end));
  }

  /** Parses it as if this array within it were empty. */
  readAround(array: { start: number; end: number }): { value: unknown } | Fault {
    const { start, end } = this.outlined;
    return this.#parse(`${this.#text(start, array.start)}[]${this.#text(array.end, end)}`);
  }

  #text(start: number, end: number): string {
    return this.#body.toString('latin1', start, end);
  }

  #parse(text: string): { value: unknown } | Fault {
    if (this.#fault !== undefined) return this.#fault;
    try {
      return { value: JSON.parse(text) as unknown };
    } catch (error) {
      this.#fault = this.#malformed(error);
      return this.#fault;
    }
  }
}
