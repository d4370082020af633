import type { KeyRow } from '@packhouse/database';
import type { ForwardAnswer, Forwarder, ResultBody } from '@packhouse/node-rpc';
import type { CallSignal, Context, Span } from '@packhouse/runtime';
import type { AnswerCache } from '../cache/answer-cache.js';
import type { KnownTexts } from '../cache/known-texts.js';
import type { SingleFlight } from '../cache/single-flight.js';
import type { FilterStore } from '../filters/filter-store.js';
import type { PendingWatch } from '../filters/pending-watch.js';
import type { CallNotes } from '../http/exchange.js';
import type { Site } from '../sites/site.js';
import type { AnswerMemory } from './answer-memory.js';
import type { CallMetrics } from './call-metrics.js';
import type { RpcCall } from './read-request.js';

/** What a call gives. Refusals are thrown as problems. */
export type RpcAnswer =
  | {
      kind: 'result';
      body: ResultBody;
      /** It is kept under this name and can never change. */
      kept?: string;
    }
  /** A node's own error object, byte for byte. */
  | { kind: 'error'; error: Buffer };

/** A site with its nodes. */
export interface RpcSite {
  readonly site: Site;
  readonly forwarder: Forwarder;
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly shared: SingleFlight<ForwardAnswer>;
  readonly cache: AnswerCache;
  readonly known: KnownTexts<RpcMethod>;
  /** Absent where nobody counts. */
  readonly memory?: AnswerMemory;
  /** Absent where nobody counts. */
  readonly metrics?: CallMetrics;
}

/** What a method needs to answer one call. */
export interface RpcVisit {
  readonly context: Context;
  readonly at: RpcSite;
  /** Absent on an open network. */
  readonly key: KeyRow | undefined;
  /** Of a client without a key; absent where there is one. */
  readonly address?: string | undefined;
  /** Aborted when the client goes away. */
  readonly signal: CallSignal;
  /** What the log says of the request. */
  readonly notes?: CallNotes | undefined;
  /** Of the request, or of the one call. Absent where nobody traces. */
  readonly span?: Span | undefined;
  /**
   * Takes room for an answer of so many bytes beside those that are sent with it, instead of what it took before; throws
   * the problem `answer-too-large` where there is none. Absent where nothing is sent with it.
   */
  readonly reserve?: ((bytes: number) => void) | undefined;
  /** When the time of the call is over, in `performance.now()`; absent until it asks its first question. */
  deadline?: number;
}

/** What is sent on instead of what came, and what is known of it. */
export interface Prepared {
  /** JSON text; absent: the parameters as they were sent. */
  params?: string;
  /** The highest block that the answer depends on. */
  block?: number;
  timeoutMs?: number;
  /** The highest block that the answer is about, where the parameters alone tell: it is kept once that is final. */
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
  /** The block that a result is about, where only the result tells; null: it must not be kept. */
  aboutOf?(result: Buffer): number | null;
  /** Counts a call that is about to go to a node; gives what ends it. Throws problems where there are too many. */
  enter?(visit: RpcVisit): () => void;
  /** Answers by itself instead of forwarding. */
  handle?(call: RpcCall, visit: RpcVisit): Promise<RpcAnswer>;
}

/** What the methods of a network are made of. */
export interface MethodParts {
  filters: FilterStore;
  pending: PendingWatch;
  /** Milliseconds since the epoch. */
  now(): number;
}
