import type { CallSignal, FIRST, Span } from '@packhouse/runtime';
import type { Account } from '../spending/spending.js';
import type { NeededHead } from './eligibility.js';

/** One JSON-RPC call, forwarded unchanged. */
export interface ForwardRequest {
  /** The name that upstreams know. */
  method: string;
  /** JSON text of the parameters, sent byte for byte. */
  params: string;
  /** Safe to send twice: only then it is retried, sent to other upstreams and hedged. */
  idempotent: boolean;
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
   * `whether`: a look-up, whose `null` is told only if another upstream agrees or no other can be asked. `head`: the number
   * of the newest block; what is answered is never below what was told. `logs`: an empty list is told only if its
   * upstream still has `block` afterwards.
   */
  asks?: 'whether' | 'head' | 'logs';
  /** The number of the newest block, if the result, or its beginning, tells it. */
  tells?: (result: Buffer) => number | null;
  /** False if a result, or its beginning, is about something else: the upstream sent nonsense then. */
  fits?: (result: Buffer) => boolean;
  /**
   * Proves a whole result; null if nothing speaks against it. It may ask other upstreams, until the signal is aborted. What
   * is streamed is not proved: see `whole`.
   */
  prove?: (result: Buffer, signal: CallSignal) => Promise<Disproof | null>;
  /**
   * The result goes to a client as it is: it is neither kept, nor read, nor put into another text than its envelope. Of a
   * list or an object only the brackets and strings are checked then; default: the whole grammar of JSON.
   */
  passedOn?: boolean;
  /** The result is needed whole, up to `maxBytes`: no body is streamed. */
  whole?: boolean;
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

/** Why a result is not passed on. */
export interface Disproof {
  /** It contradicts its own block. Otherwise it could only not be proved: the upstream is not to blame. */
  isFalse: boolean;
  /** What is wrong, for the operator. */
  why: string;
}

/** An answer of an upstream that contradicts its own block. */
export interface FalseAnswer {
  upstream: string;
  method: string;
  why: string;
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

/** One upstream, for tables and metrics. */
interface ForwardStatus {
  name: string;
  healthy: boolean;
  head: number | null;
  latencyMs: number | null;
  inFlight: number;
}

/** The upstreams of one network as the gateway uses them. */
export interface Forwarder {
  /** Calls the best upstream, and others if that helps. Rejects only when `signal` is aborted. */
  call(request: ForwardRequest): Promise<ForwardAnswer>;
  /**
   * Sends a call to the best upstreams, `most` at once, for effects that every one of them should have. Returns the answer
   * of each; none rejects. `signal` does not end it, only its time.
   */
  broadcast(request: ForwardRequest, most: number): Promise<ForwardAnswer>[];
  /** The tip: the highest head of the upstreams, held while one is away for a moment; null while none is known. */
  head(): number | null;
  /**
   * As `head`, and not below what another gateway told until now. A call that needs the newest block asks this first: the
   * gateway's knowledge is then at least as new as the call.
   */
  newest(): number | null | Promise<number | null>;
  /**
   * The block that `safe` or `finalized` stand for: not below what any gateway told. Null if no upstream knows the tag.
   */
  pinned(tag: 'safe' | 'finalized'): Promise<number | null>;
  /** The highest block that is final; null while unknown. */
  finalized(): number | null;
  status(): ForwardStatus[];
  close(): Promise<void>;
}
