import type { CallSignal, FIRST, Span } from '@packhouse/runtime';
import type { Account } from '../../spending/spending.js';

/** The lowest head that can answer: a block number, or `tip`, the newest block that this process knows of. */
export type NeededHead = number | 'tip';

/** How many upstreams have to answer alike, and how many answers are asked for until then. */
export interface Quorum {
  agree: number;
  of: number;
}

/** One JSON-RPC call, forwarded unchanged. */
export interface ForwardRequest {
  /** The name that upstreams know. */
  method: string;
  /** JSON text of the parameters, sent byte for byte. */
  params: string;
  /** Safe to send twice: only then it is retried, sent to other upstreams and hedged. */
  idempotent: boolean;
  /**
   * A read that executes nothing, with parameters that were checked: whatever error a node answers is its own, so another
   * one is asked, and the first error is the answer only if none does better. Refusals of a range stay.
   */
  checkedRead?: boolean | undefined;
  /** For all tries together. */
  timeoutMs: number;
  /** Bytes of the result at most. */
  maxBytes: number;
  /** Aborted when the answer is no longer needed. */
  signal: CallSignal;
  /** Highest block that the answer depends on: upstreams not known to have reached it are not asked. Absent: none. */
  block?: NeededHead;
  /** Lowest block that the answer depends on; default: `block`, if that is a number. */
  from?: number;
  /**
   * How the result is checked against what other upstreams know. `existence`: `null`, and a list that is empty
   * unless `lacks` knows that it lacks nothing, is returned only if another upstream agrees or no other can be asked. `head`:
   * the number of the newest block, never below one that was returned before. `logs`: an empty list is returned only if its upstream still has `block` afterwards.
   */
  crossCheck?: 'existence' | 'head' | 'logs';
  /** Reads the number of the newest block from a result, or its beginning; null: it has none. */
  resultBlock?: (result: Buffer) => number | null;
  /**
   * How likely a whole result lacks what its blocks have. It is returned only if another upstream says the same, or none can
   * be asked; a `likely` one is asked for once more then. A `certain` one is never returned, and `nothing` needs no other.
   */
  lacks?: ((result: ResultBody) => Lack | Promise<Lack>) | undefined;
  /** Begins the check of a result: what it finds wrong is nonsense of the upstream, and breaks a streamed answer off. */
  check?: (() => ResultCheck) | undefined;
  /**
   * Proves a whole result; null if nothing speaks against it. It may ask other upstreams, until the signal is aborted. What
   * is streamed is not proved: see `whole`.
   */
  prove?: (result: Buffer, signal: CallSignal) => Promise<Disproof | null>;
  /** The result is needed whole, up to `maxBytes`: no body is streamed. */
  whole?: boolean;
  /** It shares no request with other calls, so that it is not sent once more if a batch has no answer for it. */
  alone?: boolean;
  /** Only what so many upstreams answer alike is returned; default: the answer of one. */
  quorum?: Quorum | undefined;
  /** The parent span; absent without tracing. */
  span?: Span;
  /**
   * Whom the call is for, such as a key's id or an address: each has its share of a node's connections, and waits behind its
   * own calls alone. Default: one for all that name none.
   */
  caller?: Caller;
  /** Whom its requests are counted for; default: nobody. */
  account?: Account | undefined;
}

/** FIRST: the gateway's own questions, which every other call depends on. */
type Caller = string | number | typeof FIRST;

/** `unknown`: nothing tells that it lacks something, nor that it does not. */
export type Lack = 'nothing' | 'unknown' | 'likely' | 'certain';

/** Why a result is not passed on. */
export interface Disproof {
  /** It contradicts its own block. Otherwise it could only not be proved: the upstream is not to blame. */
  isFalse: boolean;
  /** What is wrong, for the operator. */
  reason: string;
}

/** An answer of an upstream that contradicts its own block. */
export interface InvalidResponse {
  upstream: string;
  method: string;
  reason: string;
}

/** JSON text of a result. */
export interface ResultBody {
  /** All of it, or its beginning. If there are `pieces`, reading this joins them. */
  readonly bytes: Buffer;
  /** All of a large result, as it was received. */
  readonly pieces?: readonly Buffer[];
  /** The rest, at the reader's pace; null if `bytes` is all. Throws if the upstream breaks off. */
  rest: AsyncIterable<Buffer> | null;
}

/** Looks at a result as it comes for what contradicts its question, or another part of it. */
export interface ResultCheck {
  /** Takes the next bytes. Returns what was sent, as in "a node sent …", if it is wrong; null: nothing is, so far. */
  push(bytes: Buffer): string | null;
  /** Says that all bytes were taken. */
  end(): string | null;
}

/** The outcome of a call. An error that every upstream would return is an answer. */
export type ForwardAnswer =
  | { kind: 'result'; body: ResultBody; upstream: string }
  /** `error` is the upstream's error object, byte for byte. */
  | { kind: 'error'; error: Buffer; code: number; message: string; upstream: string }
  | {
      kind: 'failed';
      /**
       * timeout: no upstream answered in time. unavailable: none could be asked. nonsense: no JSON-RPC. busy: none had a
       * connection for this caller, who has too many calls.
       */
      reason: 'timeout' | 'unavailable' | 'nonsense' | 'too-large' | 'busy';
      /** One sentence without addresses or credentials of upstreams. */
      detail: string;
      retryAfterMs?: number;
    };
