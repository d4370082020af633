import { toQuantity } from '@packhouse/chain';
import { type Network, nodeMethod } from '@packhouse/networks';
import type { ForwardAnswer, Forwarder, ForwardRequest, ResultBody } from '@packhouse/node-rpc';
import { addressBlock } from '@packhouse/runtime';
import { noteOnce } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import type { CallContext, RpcAnswer, RpcNetwork } from './method.js';

/** A whole answer of an upstream. */
type WholeAnswer = Exclude<ForwardAnswer, { kind: 'failed' }>;

/** Methods with large results. Other whole answers do not wait for room, and are counted when they arrive. */
const LISTS = new Set(['eth_getLogs', 'core_getLogs']);

/**
 * Asks the best upstream for a result that the gateway works on. All questions of one call share the time that the
 * networks file allows, counted from the first question. Throws problems.
 */
export async function askWhole(
  caller: Pick<CallContext, 'network' | 'key' | 'address' | 'signal' | 'span' | 'notes' | 'deadline'>,
  /** `timeoutMs` is limited to the time that is left; what is asked twice is a `checkedRead` unless it says otherwise. */
  request: Pick<ForwardRequest, 'method' | 'params'> &
    Partial<
      Pick<
        ForwardRequest,
        | 'alone'
        | 'idempotent'
        | 'checkedRead'
        | 'block'
        | 'from'
        | 'crossCheck'
        | 'check'
        | 'lacks'
        | 'timeoutMs'
      >
    >,
): Promise<WholeAnswer> {
  const { network, signal, notes } = caller;
  const { rpc } = network.config;
  caller.deadline ??= performance.now() + rpc.timeoutMs;
  const owner = getOwnerName(caller);
  // Counted until the client has its answer.
  const { method } = request;
  const reserved = LISTS.has(method) ? await network.memory?.reserve(signal, owner, method) : undefined;
  if (needsNewest(request.block, network.forwarder)) await network.forwarder.newest();
  const leftMs = Math.floor(caller.deadline - performance.now());
  const prove = network.integrity?.getProof(request.method, request.params);
  const toSend = toForwardRequest(caller, prove, {
    method: request.method,
    params: request.params,
    idempotent: request.idempotent ?? true,
    checkedRead: request.checkedRead ?? request.idempotent ?? true,
    whole: true,
    alone: request.alone,
    timeoutMs: Math.min(leftMs, request.timeoutMs ?? leftMs),
    signal,
    block: request.block,
    from: request.from,
    crossCheck: request.crossCheck,
    // What is proved names the node that sent it, so the proof comes first.
    check: prove === undefined ? request.check : undefined,
    lacks: prove === undefined ? request.lacks : undefined,
  });
  let answer: ForwardAnswer | undefined;
  try {
    if (leftMs > 0) answer = await network.forwarder.call(toSend);
  } finally {
    const bytes = answer?.kind === 'result' ? getSize(answer.body) : 0;
    if (reserved !== undefined) reserved(bytes);
    else network.memory?.add(bytes, signal, owner);
  }
  if (answer === undefined || (answer.kind === 'failed' && answer.reason === 'timeout')) {
    throw failure({ reason: 'timeout', detail: `it took longer than ${rpc.timeoutMs} ms` });
  }
  if (answer.kind === 'failed') throw failure(answer, toSend.maxBytes);
  noteOnce(notes?.upstreams, answer.upstream);
  return answer;
}

/** Bytes of a result at most; fewer if it is proved. */
export function getMaxBytes({ config, integrity }: RpcNetwork, prove: ForwardRequest['prove']): number {
  return (prove && integrity?.maxBytes) ?? config.rpc.maxAnswerBytes;
}

/** What nodes are asked for a call of a network's methods. */
export function toForwardRequest(
  caller: Pick<CallContext, 'network' | 'key' | 'address' | 'span'>,
  prove: ForwardRequest['prove'],
  request: Omit<ForwardRequest, 'prove' | 'maxBytes' | 'caller' | 'account' | 'span'>,
): ForwardRequest {
  const { network, key } = caller;
  return {
    // One by one: spreading one object into the other takes ten times as long.
    method: nodeMethod(request.method, network.config.rpc.aliases),
    params: request.params,
    idempotent: request.idempotent,
    checkedRead: request.checkedRead,
    timeoutMs: request.timeoutMs,
    maxBytes: getMaxBytes(network, prove),
    signal: request.signal,
    block: request.block,
    from: request.from,
    crossCheck: request.crossCheck,
    resultBlock: request.resultBlock,
    check: request.check,
    lacks: request.lacks,
    prove,
    whole: request.whole,
    alone: request.alone,
    quorum: getQuorum(network.config, request.method),
    span: caller.span,
    caller: getOwnerName(caller),
    // Requests to nodes are counted for the application of the key.
    account: key && { owner: key.application },
  };
}

/** How many nodes have to answer a method alike; undefined: one answer is enough. */
export function getQuorum({ family, rpc }: Network, method: string): ForwardRequest['quorum'] {
  const isAsked = family === 'evm' && rpc.integrity === 'quorum' && rpc.quorum.methods.includes(method);
  return isAsked ? rpc.quorum : undefined;
}

/** Whether what is answered depends on a block that only another gateway may know of. */
export function needsNewest(block: ForwardRequest['block'], forwarder: Pick<Forwarder, 'head'>): boolean {
  return block === 'tip' || (block !== undefined && block > (forwarder.head() ?? -1));
}

/** Whom a call is for, as nodes' connections and memory are shared: a key, or the address of a client without one. */
export function getOwnerName({ address, key }: Pick<CallContext, 'address' | 'key'>): string | number {
  return key?.id ?? addressBlock(address ?? '');
}

export function countBytes(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Bytes of a result in memory. */
export function getSize(body: ResultBody): number {
  return countBytes(getPieces(body));
}

/** All of a result in memory, without joining it. */
export function getPieces(body: ResultBody): readonly Buffer[] {
  return body.pieces ?? [body.bytes];
}

/** A whole result, parsed. */
export function parseBody({ bytes }: ResultBody): unknown {
  return JSON.parse(bytes.toString('utf8'));
}

const OPEN_BRACKET = 0x5b;

/** Throws a problem unless a whole result is a list. */
export function expectLogs(body: ResultBody): void {
  if (getPieces(body)[0]?.[0] === OPEN_BRACKET) return;
  throw failure({ reason: 'nonsense', detail: 'a node sent logs that are not a list' });
}

/** A block and its parent. */
export interface BlockLink {
  number: number;
  hash: string;
  parentHash: string;
}

/**
 * The link of a block by its number or a tag; null if there is none. Upstreams behind `head` (default: the newest that
 * any gateway knows) are not asked, because one left on a dead branch has other blocks. Throws problems and UpstreamRpcError.
 */
export async function linkAt(
  caller: CallContext,
  of: number | 'latest' | 'safe' | 'finalized',
  head?: number,
): Promise<BlockLink | null> {
  const at = typeof of === 'number' ? toQuantity(of) : of;
  const answer = await askWhole(caller, {
    method: 'eth_getBlockByNumber',
    params: JSON.stringify([at, false]),
    block: head ?? 'tip',
  });
  if (answer.kind === 'error') throw new UpstreamRpcError(answer.error);
  const block = parseBody(answer.body) as { number?: unknown; hash?: unknown; parentHash?: unknown } | null;
  if (block === null) return null;
  const { number, hash, parentHash } = block;
  if (typeof number !== 'string' || typeof hash !== 'string' || typeof parentHash !== 'string') {
    throw failure({ reason: 'nonsense', detail: 'a node sent an invalid block' });
  }
  return { number: Number(number), hash, parentHash };
}

/** An upstream's error, to be sent on unchanged. */
export class UpstreamRpcError extends Error {
  readonly error: Buffer;

  constructor(error: Buffer) {
    super('a node answered with an error');
    this.error = error;
  }
}

/** The answer that an upstream's error is; throws any other error. */
export function toErrorAnswer(error: unknown): RpcAnswer {
  if (error instanceof UpstreamRpcError) return { kind: 'error', error: error.error };
  throw error;
}

const REASONS = {
  timeout: 'upstream-timeout',
  unavailable: 'upstream-unavailable',
  nonsense: 'upstream-nonsense',
  'too-large': 'answer-too-large',
  busy: 'nodes-busy',
} as const;

/** Seconds that a client is asked to wait if no upstream can be asked. */
const RETRY_AFTER_SECONDS = 1;

/** The problem for a call that no upstream answered; `limit` in bytes, if the answer may have been too large. */
export function failure(
  failed: { reason: keyof typeof REASONS; detail: string; retryAfterMs?: number },
  limit?: number,
): Problem {
  const seconds = Math.max(RETRY_AFTER_SECONDS, Math.ceil((failed.retryAfterMs ?? 0) / 1_000));
  const later = failed.reason === 'unavailable' || failed.reason === 'busy';
  return new Problem(REASONS[failed.reason], {
    detail: `The call failed: ${failed.detail}.`,
    members: failed.reason === 'too-large' ? { limit } : {},
    retryAfter: later ? seconds : undefined,
  });
}
