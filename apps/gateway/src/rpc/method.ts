import type { KeyRow } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Disproof, ForwardAnswer, Forwarder, ResultBody } from '@packhouse/node-rpc';
import type { CallSignal, Context, Span } from '@packhouse/runtime';
import type { AnswerCache } from '../cache/answer-cache.js';
import type { KnownTexts } from '../cache/known-texts.js';
import type { SingleFlight } from '../cache/single-flight.js';
import type { CallNotes } from '../http/exchange.js';
import type { AnswerMemory } from './answer-memory.js';
import type { CallMetrics } from './call-metrics.js';
import type { RpcCall } from './read-request.js';

/** The answer to a call. Refusals are thrown as problems. */
export type RpcAnswer =
  | {
      kind: 'result';
      body: ResultBody;
      /** Set if the result can never change: the name that it is kept under. */
      kept?: string;
    }
  /** An upstream's error object, byte for byte. */
  | { kind: 'error'; error: Buffer };

/** Proves the results of one network's calls. */
export interface Integrity {
  /** Bytes of a result that is proved at most; a larger one is refused. */
  readonly mostBytes: number;
  /** The `prove` of a forwarder's request for this call; undefined if nothing is proved of it. `params`: JSON text. */
  proofOf(
    method: string,
    params: string,
  ): ((result: Buffer, signal: CallSignal) => Promise<Disproof | null>) | undefined;
}

/** A network with all that answering its calls needs. */
export interface RpcNetwork {
  readonly network: Network;
  readonly forwarder: Forwarder;
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly shared: SingleFlight<ForwardAnswer>;
  readonly cache: AnswerCache;
  readonly known: KnownTexts<RpcMethod>;
  /** Absent unless results are proved. */
  readonly integrity?: Integrity | undefined;
  readonly memory?: AnswerMemory;
  readonly metrics?: CallMetrics;
}

/** One call's context, as methods need it to answer. */
export interface CallContext {
  readonly context: Context;
  readonly at: RpcNetwork;
  /** Absent on an open network. */
  readonly key: KeyRow | undefined;
  /** Address of a client without a key; absent if there is a key. */
  readonly address?: string | undefined;
  /** Aborted when the client goes away. */
  readonly signal: CallSignal;
  /** For the log of requests. */
  readonly notes?: CallNotes | undefined;
  /** Span of the request, or of the one call. Absent unless requests are traced. */
  readonly span?: Span | undefined;
  /**
   * Reserves room in the batch for an answer of this size, in place of its earlier reservation. Throws the problem
   * `answer-too-large` if there is not enough. Absent outside of batches.
   */
  readonly reserve?: ((bytes: number) => void) | undefined;
  /**
   * Calls its argument once, when the response that holds the answer is over: with true if all of it was handed to the
   * connection. The calls of a batch have one response, and the same function. Absent where nobody sends an answer.
   */
  readonly whenSent?: ((then: (sent: boolean) => void) => void) | undefined;
  /** When the time of the call is over, by `performance.now()`; absent until it asks its first question. */
  deadline?: number;
}

/** The parameters to forward, and facts of the call. */
export interface Prepared {
  /** JSON text; absent: as the client sent them. */
  params?: string;
  /** The highest block that the answer depends on; `tip`: the newest one. Absent: none, or one that only nodes know. */
  block?: number | 'tip';
  /** See `tells` of a forwarder's request. */
  tells?: (result: Buffer) => number | null;
  /** See `fits` of a forwarder's request. */
  fits?: (result: Buffer) => boolean;
  timeoutMs?: number;
  /** The highest block that the answer is about, if the parameters tell it. The result is kept if it is final. */
  about?: number;
}

/** One method that a family offers. */
export interface RpcMethod {
  /** Public name, aliases resolved: `core_getLogs`, never `cfx_getLogs`. */
  readonly name: string;
  /** Units that a call costs, unless `rpc.costs` of the network says otherwise. */
  readonly cost: number;
  /** On a network of the strict profile it is offered only if `rpc.allow` names it. */
  readonly unlessStrict?: true;
  /** It is offered only if `rpc.allow` names it. */
  readonly ifAllowed?: true;
  /** It is of no family: `rpc.allow` names it, and it is passed on as it is. */
  readonly passedOn?: true;
  /** Asking twice does no harm. */
  readonly idempotent: boolean;
  /** Checks the parameters; throws the problem `params-invalid`, naming the argument. */
  prepare?(params: readonly unknown[], at: RpcNetwork): Prepared | undefined;
  /** The block that a result is about, if only the result tells it; null: the result must not be kept. */
  aboutOf?(result: Buffer): number | null;
  /** What `null`, or a number that is too low, says: see `asks` of a forwarder's request. */
  readonly asks?: 'whether' | 'head';
  /** `safe` and `finalized` among its parameters are replaced by the number that they stand for. */
  readonly pins?: true;
  /** Counts a call before it is forwarded; the returned function ends it. Throws problems if there are too many. */
  enter?(caller: CallContext): () => void;
  /** Answers the call instead of forwarding it. */
  handle?(call: RpcCall, caller: CallContext): Promise<RpcAnswer>;
}
