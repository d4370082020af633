import { nodeMethod } from '@packhouse/networks';
import type { Account, ForwardAnswer, ResultBody } from '@packhouse/node-rpc';
import { addressBlock } from '../http/client-address.js';
import { noteOnce } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import type { CallContext } from './method.js';

/** A whole answer of an upstream. */
export type WholeAnswer =
  | {
      kind: 'result';
      body: ResultBody;
      /** Decoded on first use. */
      readonly text: string;
      upstream: string;
    }
  | { kind: 'error'; error: Buffer; code: number; message: string };

/** Methods with large results. Other whole answers do not wait for room, and are counted when they arrive. */
const LISTS = new Set(['eth_getLogs', 'core_getLogs']);
const COUNTED_BYTES = 65_536;

/**
 * Asks the best upstream for a result that the gateway works on. All questions of one call share the time that the
 * networks file allows, counted from the first question. Throws problems.
 */
export async function askWhole(
  caller: Pick<CallContext, 'at' | 'key' | 'address' | 'signal' | 'span' | 'notes' | 'deadline'>,
  request: {
    method: string;
    params: string;
    idempotent?: boolean;
    block?: number | 'tip';
    from?: number;
    /** See a forwarder's request. */
    asks?: 'logs';
    fits?: (result: Buffer) => boolean;
    /** See a forwarder's request. */
    passedOn?: boolean;
    /** Limited to the time that is left. */
    timeoutMs?: number;
  },
): Promise<WholeAnswer> {
  const { at, signal, span, notes } = caller;
  const { rpc } = at.network;
  caller.deadline ??= performance.now() + rpc.timeoutMs;
  const holder = callerName(caller);
  // Counted until the client has its answer.
  const held = LISTS.has(request.method) ? await at.memory?.enter(signal, holder) : undefined;
  const { block } = request;
  if (block === 'tip' || (block !== undefined && block > (at.forwarder.head() ?? -1)))
    await at.forwarder.newest();
  const leftMs = Math.floor(caller.deadline - performance.now());
  const prove = at.integrity?.proofOf(request.method, request.params);
  const maxAnswerBytes = (prove && at.integrity?.mostBytes) ?? rpc.maxAnswerBytes;
  let answer: ForwardAnswer | undefined;
  try {
    if (leftMs > 0) {
      answer = await at.forwarder.call({
        method: nodeMethod(request.method, rpc.aliases),
        params: request.params,
        idempotent: request.idempotent ?? true,
        whole: true,
        timeoutMs: Math.min(leftMs, request.timeoutMs ?? leftMs),
        maxBytes: maxAnswerBytes,
        ...(prove === undefined ? { passedOn: request.passedOn ?? false } : { prove }),
        signal,
        caller: callerName(caller),
        account: accountOf(caller),
        ...(request.block === undefined ? {} : { block: request.block }),
        ...(request.from === undefined ? {} : { from: request.from }),
        ...(request.asks === undefined ? {} : { asks: request.asks }),
        // What is proved names the node that sent it, so the proof comes first.
        ...(request.fits === undefined || prove !== undefined ? {} : { fits: request.fits }),
        ...(span === undefined ? {} : { span }),
      });
    }
  } finally {
    const bytes = answer?.kind === 'result' ? sizeOf(answer.body) : 0;
    if (held !== undefined) held(bytes);
    else if (bytes > COUNTED_BYTES) at.memory?.hold(bytes, signal, holder);
  }
  if (answer === undefined || (answer.kind === 'failed' && answer.reason === 'timeout')) {
    throw failure({ reason: 'timeout', detail: `it takes longer than ${rpc.timeoutMs} ms` }, rpc);
  }
  if (answer.kind === 'failed') throw failure(answer, { maxAnswerBytes });
  noteOnce(notes?.upstreams, answer.upstream);
  if (answer.kind === 'error') return answer;
  const { body, upstream } = answer;
  return {
    kind: 'result',
    ...{ body, upstream },
    get text() {
      return body.bytes.toString('utf8');
    },
  };
}

/** Whom a call is for, as nodes' connections and memory are shared: a key, or the address of a client without one. */
export function callerName({ address, key }: Pick<CallContext, 'address' | 'key'>): string | number {
  return key?.id ?? addressBlock(address ?? '');
}

/** Whom requests to nodes are counted for: the application of the key. */
export function accountOf({ key }: Pick<CallContext, 'key'>): Account | undefined {
  return key === undefined ? undefined : { owner: key.application };
}

/** Bytes of a result in memory. */
export function sizeOf(body: ResultBody): number {
  return body.pieces?.reduce((sum, { length }) => sum + length, 0) ?? body.bytes.length;
}

/** A block and its parent. */
export interface BlockLink {
  number: number;
  hash: string;
  parentHash: string;
}

/**
 * The link of a block by its number or a tag; null if there is none. Upstreams behind `head` (default: the newest that
 * any gateway knows) are not asked, because one left on a dead branch has other blocks. Throws problems and NodeSaid.
 */
export async function linkAt(
  caller: CallContext,
  block: number | 'latest' | 'safe' | 'finalized',
  head?: number,
): Promise<BlockLink | null> {
  const at = typeof block === 'number' ? `0x${block.toString(16)}` : block;
  const answer = await askWhole(caller, {
    method: 'eth_getBlockByNumber',
    params: JSON.stringify([at, false]),
    block: head ?? 'tip',
  });
  if (answer.kind === 'error') throw new NodeSaid(answer.error);
  const said = JSON.parse(answer.text) as { number?: unknown; hash?: unknown; parentHash?: unknown } | null;
  if (said === null) return null;
  const { number, hash, parentHash } = said;
  if (typeof number !== 'string' || typeof hash !== 'string' || typeof parentHash !== 'string') {
    throw failure({ reason: 'nonsense', detail: 'a node sent a block that is none' });
  }
  return { number: Number(number), hash, parentHash };
}

/** An upstream's error, to be sent on unchanged. */
export class NodeSaid extends Error {
  readonly error: Buffer;

  constructor(error: Buffer) {
    super('a node answered with an error');
    this.error = error;
  }
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

/** The problem for a call that no upstream answered; `limits` if the answer may have been too large. */
export function failure(
  failed: { reason: keyof typeof REASONS; detail: string; retryAfterMs?: number },
  limits?: { readonly maxAnswerBytes: number },
): Problem {
  const seconds = Math.max(RETRY_AFTER_SECONDS, Math.ceil((failed.retryAfterMs ?? 0) / 1_000));
  const later = failed.reason === 'unavailable' || failed.reason === 'busy';
  return new Problem(REASONS[failed.reason], {
    detail: `The request could not be answered: ${failed.detail}.`,
    ...(failed.reason === 'too-large' ? { members: { limit: limits?.maxAnswerBytes } } : {}),
    ...(later
      ? { members: { retryAfterMs: seconds * 1_000 }, headers: { 'retry-after': String(seconds) } }
      : {}),
  });
}
