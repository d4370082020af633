import type { KeyRow } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ForwardAnswer, Forwarder, ResultBody } from '@packhouse/node-rpc';
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
      /** It is kept under this name and can never change. */
      kept?: string;
    }
  /** A node's own error object, byte for byte. */
  | { kind: 'error'; error: Buffer };

/** A network with its nodes. */
export interface RpcSite {
  readonly site: { readonly network: Network };
  readonly forwarder: Forwarder;
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly shared: SingleFlight<ForwardAnswer>;
  readonly cache: AnswerCache;
  readonly known: KnownTexts<RpcMethod>;
  readonly memory?: AnswerMemory;
  readonly metrics?: CallMetrics;
}

/** What a method needs to answer one call. */
export interface RpcVisit {
  readonly context: Context;
  readonly at: RpcSite;
  /** Absent on an open network. */
  readonly key: KeyRow | undefined;
  /** Of a client without a key; absent if there is a key. */
  readonly address?: string | undefined;
  /** Aborted when the client goes away. */
  readonly signal: CallSignal;
  /** For the log of requests. */
  readonly notes?: CallNotes | undefined;
  /** Of the request, or of the one call. Absent unless requests are traced. */
  readonly span?: Span | undefined;
  /**
   * Takes room for an answer of so many bytes beside those that are sent with it, instead of what it took before; throws
   * the problem `answer-too-large` if there is none. Absent outside of batches.
   */
  readonly reserve?: ((bytes: number) => void) | undefined;
  /** When the time of the call is over, in `performance.now()`; absent until it asks its first question. */
  deadline?: number;
}

/** The parameters as they are forwarded, and what is known of the call. */
export interface Prepared {
  /** JSON text; absent: as the client sent them. */
  params?: string;
  /** The highest block that the answer depends on. */
  block?: number;
  timeoutMs?: number;
  /** The highest block that the answer is about, if the parameters alone tell: the result is kept once that block is final. */
  about?: number;
}

/** One method that a family offers. */
export interface RpcMethod {
  /** As clients write it, aliases resolved: `core_getLogs`, never `cfx_getLogs`. */
  readonly name: string;
  /** Requests that it counts as. */
  readonly cost: number;
  /** Asking twice does no harm. */
  readonly idempotent: boolean;
  /** Checks the parameters; throws the problem `params-invalid`, naming the argument. */
  prepare?(params: readonly unknown[], at: RpcSite): Prepared | undefined;
  /** The block that a result is about, if only the result tells; null: it must not be kept. */
  aboutOf?(result: Buffer): number | null;
  /** Counts a call that is about to go to a node; returns a function that ends it. Throws problems if there are too many. */
  enter?(visit: RpcVisit): () => void;
  /** Answers by itself instead of forwarding. */
  handle?(call: RpcCall, visit: RpcVisit): Promise<RpcAnswer>;
}
