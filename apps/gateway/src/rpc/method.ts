import type { KeyRow } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ForwardAnswer, Forwarder, ForwardRequest, ResultBody } from '@packhouse/node-rpc';
import type { CallSignal, Context, Span } from '@packhouse/runtime';
import type { ContractsRead } from '../access/key-restrictions.js';
import type { AnswerCache } from '../cache/answer-cache.js';
import type { RequestCache } from '../cache/request-cache.js';
import type { SingleFlight } from '../cache/single-flight.js';
import type { CallNotes } from '../http/exchange.js';
import type { AnswerMemory } from './answer-memory.js';
import type { CallMetrics } from './call-metrics.js';
import type { LogFilter } from './log-filter.js';
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

/** An answer that is a whole result; `kept`: see RpcAnswer. */
export function toResult(result: Buffer | string, kept?: string): Extract<RpcAnswer, { kind: 'result' }> {
  const bytes = typeof result === 'string' ? Buffer.from(result) : result;
  return { kind: 'result', body: { bytes, rest: null }, kept };
}

/** Proves the results of one network's calls. */
export interface Integrity {
  /** Bytes of a result that is proved at most; a larger one is refused. */
  readonly maxBytes: number;
  /** The `prove` of a forwarder's request for this call; undefined if nothing is proved of it. `params`: JSON text. */
  getProof(method: string, params: string): ForwardRequest['prove'];
}

/** A list about one block, by its number, hash or tag. */
export interface BlockList {
  /**
   * What is in it: a receipt of each transaction, traces of each, or these and traces of the block's rewards.
   */
  of: 'receipts' | 'traces' | 'traces-and-rewards';
  block: unknown;
}

/** Tells whether a block is as empty as a node says. */
export interface EmptyLists {
  /** The `lacks` of a forwarder's request; undefined: the block may yet be another one. */
  getLack(caller: CallContext, list: BlockList): ForwardRequest['lacks'];
}

/** Tells whether a node has the logs of the newest blocks that it tells of. */
export interface NewestLogs {
  /**
   * The `lacks` of a forwarder's request for the logs of blocks: a range that ends with one of the newest, or the hash of
   * one. Undefined: nothing speaks against what a node says of them.
   */
  getLack(
    caller: CallContext,
    filter: LogFilter,
    blocks: { from: number; to: number } | string,
  ): ForwardRequest['lacks'];
}

/** A network with all that answering its calls needs. */
export interface RpcNetwork {
  readonly config: Network;
  readonly forwarder: Forwarder;
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly shared: SingleFlight<ForwardAnswer>;
  readonly cache: AnswerCache;
  readonly requestCache: RequestCache<RpcMethod>;
  /** Absent unless results are proved. */
  readonly integrity?: Integrity | undefined;
  /** Absent for families whose logs are not looked into. */
  readonly newestLogs?: NewestLogs | undefined;
  /** Absent for families whose blocks are not looked into. */
  readonly emptyLists?: EmptyLists | undefined;
  readonly memory?: AnswerMemory;
  readonly metrics?: CallMetrics;
}

/**
 * The name that an answer is kept and shared under: with the chain and the proof, because the next networks file may say
 * otherwise under the same id.
 */
export function toAnswerName(network: AnswerSource, method: string, params: string): string {
  return `${toAnswerPrefix(network)} ${method} ${params}`;
}

/** How the names of answers begin that may be used now: those of an earlier epoch may be wrong. */
export function toAnswerPrefix({ config, forwarder, integrity }: AnswerSource): string {
  const epoch = forwarder.epoch();
  return `${config.id} ${config.chainId}${epoch === 0 ? '' : ` epoch ${epoch}`}${integrity === undefined ? '' : ' proved'}${config.rpc.integrity === 'quorum' ? ` by ${config.rpc.quorum.agree}` : ''}`;
}

interface AnswerSource extends Pick<RpcNetwork, 'config' | 'integrity'> {
  readonly forwarder: Pick<Forwarder, 'epoch'>;
}

/** One call's context, as methods need it to answer. */
export interface CallContext {
  readonly context: Context;
  readonly network: RpcNetwork;
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
  deadline?: number | undefined;
}

/** The caller of a part of its request; one by one, as a spread costs as much as the rest of a small call. */
export function toCaller(
  caller: CallContext,
  { reserve = caller.reserve, signal = caller.signal, span = caller.span }: Partial<CallContext>,
): CallContext {
  const { address, context, key, network, notes, whenSent } = caller;
  return { address, context, key, network, notes, whenSent, reserve, signal, span };
}

/** The parameters to forward, and facts of the call. */
export interface Prepared extends Pick<ForwardRequest, 'block' | 'checkedRead' | 'resultBlock' | 'check'> {
  /** The result is a list of what a block has. */
  list?: BlockList | undefined;
  /** JSON text; absent: as the client sent them. */
  params?: string;
  timeoutMs?: number;
  /** The highest block that the answer is about, if the parameters tell it. The result is kept if it is final. */
  aboutBlock?: number | undefined;
}

/** The blocks of a range as the client wrote them: numbers or tags; absent: `latest`. With a block hash it is one block. */
export interface RangeTexts {
  readonly fromBlock?: string | undefined;
  readonly toBlock?: string | undefined;
  readonly blockHash?: string | undefined;
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
  /** For keys that are restricted to contracts. */
  readonly contracts?: ContractsRead;
  /** The range of blocks in its parameters, for keys whose ranges are limited. Throws the problem `params-invalid`. */
  getLogRange?(params: readonly unknown[]): RangeTexts;
  /** Asking twice does no harm. */
  readonly idempotent: boolean;
  /** Checks the parameters; throws the problem `params-invalid`, naming the argument. */
  readonly prepare?: ((params: readonly unknown[], network: RpcNetwork) => Prepared | undefined) | undefined;
  /** The block that a result is about, if only the result tells it; null: the result must not be kept. */
  readonly getResultBlock?: ((result: Buffer) => number | null) | undefined;
  /** What `null`, or a number that is too low, says: see a forwarder's request. */
  readonly crossCheck?: 'existence' | 'head' | undefined;
  /** `safe` and `finalized` among its parameters are replaced by the number that they stand for. */
  readonly pinsTags?: boolean;
  /** Counts a call before it is forwarded; the returned function ends it. Throws problems if there are too many. */
  enter?(caller: CallContext): () => void;
  /** Answers the call instead of forwarding it. */
  handle?(call: RpcCall, caller: CallContext): Promise<RpcAnswer>;
}
