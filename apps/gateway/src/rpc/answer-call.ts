import type { KeyRow } from '@packhouse/database';
import { isMethodElsewhere } from '@packhouse/networks';
import type { ForwardAnswer, ForwardRequest, ResultBody } from '@packhouse/node-rpc';
import { type CallSignal, redact } from '@packhouse/runtime';
import { getMaxLogRange, requireContracts, requireMethod } from '../access/key-restrictions.js';
import { createSingleFlight, type SingleFlight } from '../cache/single-flight.js';
import { noteOnce } from '../http/exchange.js';
import type { MaybePromise } from '../http/maybe-promise.js';
import { PROBLEM_REASONS, Problem, toProblem } from '../http/problem.js';
import {
  failure,
  getMaxBytes,
  getOwnerName,
  getQuorum,
  getSize,
  needsNewest,
  toErrorAnswer,
  toForwardRequest,
  UpstreamRpcError,
} from './ask-node.js';
import { pinTags, requireLogRange } from './log-range.js';
import {
  type CallContext,
  type Prepared,
  type RpcAnswer,
  type RpcMethod,
  type RpcNetwork,
  toAnswerName,
  toCaller,
  toResult,
} from './method.js';
import type { RpcCall } from './read-request.js';

/*
 * The way of one JSON-RPC request:
 *
 *   read      read-request.ts  the body becomes calls; a text whose answer is in memory skips all steps to send
 *     ▼
 *   check     answerCall       the method of this network, the key's restrictions, the parameters
 *     ▼
 *   cache     answerChecked    a result about final blocks is answered at once
 *     ▼
 *   share     forward          identical concurrent calls share one question
 *     ▼
 *   forward   Forwarder        the best upstream; its result is kept if it is about final blocks
 *     ▼
 *   send      send.ts          the bytes of the upstream in an envelope with the client's id
 *
 * Methods that do more than forward a call (`handle`: logs, filters, …) take over after the check and ask through
 * ask-node.ts. A batch runs its calls through the same steps, eight at a time, and sends the
 * answers in their order as they come (answer-batch.ts).
 */

/** Most methods of one request that the log names. */
const NAMED_METHODS = 10;

/** Answers one call, synchronously if possible, and records it in metrics, log and trace. Throws problems. */
export function answerCall(call: RpcCall, caller: CallContext): MaybePromise<RpcAnswer> {
  const { network, key, notes } = caller;
  const found = findMethod(network, call.method);
  const name = found?.name ?? 'other';
  if (notes !== undefined) {
    notes.count += 1;
    if (notes.methods.length < NAMED_METHODS) noteOnce(notes.methods, name);
  }
  const ended = network.metrics?.begin(name, key?.prefix ?? '');
  const span = caller.span?.child(name, { 'rpc.system.name': 'jsonrpc', 'rpc.method': name });
  const end = (code: string): void => {
    ended?.(code);
    if (code !== 'ok') {
      noteOnce(notes?.codes, code);
      if (code !== 'aborted') notes?.failed.push(name);
    }
    if (span === undefined) return;
    if (code !== 'ok') {
      span.note({ 'rpc.response.status_code': code });
      span.fail(code);
    }
    span.end();
  };
  const answered = (answer: RpcAnswer): RpcAnswer => {
    end(answer.kind === 'error' ? getCode(answer.error) : 'ok');
    return answer;
  };
  const failed = (error: unknown): RpcAnswer => {
    if (error instanceof UpstreamRpcError) return answered(toErrorAnswer(error));
    end(caller.signal.aborted ? 'aborted' : String(PROBLEM_REASONS[toProblem(error).reason].code));
    throw error;
  };
  try {
    const method = found ?? getMethod(network, call.method);
    if (key !== undefined) {
      requireMethod(key, method.name, call.method);
      requireContracts(key, method.contracts, call.params);
    }
    if (method.handle !== undefined) network.metrics?.answered('own');
    const answer = answerChecked(method, call, span === undefined ? caller : toCaller(caller, { span }));
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

/** The method that a network offers under a name, in either of its spellings. */
export function findMethod(network: RpcNetwork, name: string): RpcMethod | undefined {
  const { aliases, deny } = network.config.rpc;
  const method = network.methods.get(name) ?? network.methods.get(publicName(name, aliases));
  return method === undefined || deny.includes(method.name) ? undefined : method;
}

/** What `rpc.allow` can name. */
const METHOD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** They need a connection that stays, which JSON-RPC over HTTP does not have. */
const SUBSCRIPTIONS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

/** As `findMethod`; throws the problems `method-unknown` and `method-unsupported`. */
function getMethod(network: RpcNetwork, name: string): RpcMethod {
  const method = findMethod(network, name);
  if (method !== undefined) return method;
  if (isMethodElsewhere(name, network.config.family)) {
    throw new Problem('method-unsupported', {
      detail: `The method ${name} belongs to networks of another family`,
    });
  }
  // Libraries look for "method … does not exist" (ethers 6, JsonRpcApiProvider.getRpcError).
  const mayBeAllowed = METHOD_NAME.test(name) && !SUBSCRIPTIONS.has(name);
  const because = mayBeAllowed
    ? `it is not enabled on network ${network.config.id}; the operator can allow it with rpc.allow`
    : 'Packhouse does not support it';
  throw new Problem('method-unknown', {
    detail: `The method ${/^\w{1,64}$/.test(name) ? redact(name) : 'asked for'} does not exist or is not available: ${because}`,
  });
}

/** The answer to a notification of a read; it is never sent. */
const NOTHING = toResult('null');

/** Answers one call: by the method itself, from memory, or from the best upstream. Throws problems. */
function answerChecked(method: RpcMethod, call: RpcCall, caller: CallContext): MaybePromise<RpcAnswer> {
  // A read that needs no answer has no effect.
  if (call.id === undefined && method.idempotent) return NOTHING;
  if (isRangeLimited(method, caller.key)) {
    const range = (method.getLogRange as NonNullable<RpcMethod['getLogRange']>)(call.params);
    return requireLogRange(range, caller).then(() => answerAllowed(method, call, caller));
  }
  return answerAllowed(method, call, caller);
}

/** Whether the blocks that a call asks for are limited: then each call is checked, also if its answer is known. */
export function isRangeLimited(method: RpcMethod, key: KeyRow | undefined): boolean {
  return method.getLogRange !== undefined && getMaxLogRange(key) < Number.POSITIVE_INFINITY;
}

function answerAllowed(method: RpcMethod, call: RpcCall, caller: CallContext): MaybePromise<RpcAnswer> {
  if (method.handle !== undefined) return method.handle(call, caller);
  const pinned = getQuorum(caller.network.config, method.name) === undefined ? PINNED : PINNED_BY_QUORUM;
  if (method.pinsTags === true && pinned.test(call.paramsText)) return answerPinned(method, call, caller);
  return answerNamed(method, call, caller);
}

/** `safe` or `finalized` is among the parameters. */
const PINNED = /"(?:safe|finalized)"/;

/** Nodes are not at the same newest block at the same moment. */
const PINNED_BY_QUORUM = /"(?:safe|finalized|latest)"/;

/** Answers for the blocks that the tags stand for now, by their numbers. */
async function answerPinned(method: RpcMethod, call: RpcCall, caller: CallContext): Promise<RpcAnswer> {
  const params = await pinTags(
    call.params,
    caller.network.forwarder,
    getQuorum(caller.network.config, method.name)?.agree,
  );
  const answer = await answerNamed(method, { ...call, params, paramsText: JSON.stringify(params) }, caller);
  // The text with the tag means another block soon.
  return answer.kind === 'result' ? { kind: 'result', body: answer.body } : answer;
}

function answerNamed(method: RpcMethod, call: RpcCall, caller: CallContext): MaybePromise<RpcAnswer> {
  const { network } = caller;
  const prepared = method.prepare?.(call.params, network);
  const params = prepared?.params ?? call.paramsText;
  const name = toAnswerName(network, method.name, params);
  const kept = method.idempotent ? network.cache.get(name) : undefined;
  if (kept !== undefined) {
    network.metrics?.answered('memory');
    return toResult(kept, name);
  }
  return forward(method, prepared, params, name, caller);
}

/** Shares one question among identical calls; a streamed answer can be read by one caller only. */
export function createSharedCalls(): SingleFlight<ForwardAnswer> {
  return createSingleFlight((answer) => answer.kind === 'result' && answer.body.rest !== null);
}

async function forward(
  method: RpcMethod,
  prepared: Prepared | undefined,
  params: string,
  name: string,
  caller: CallContext,
): Promise<RpcAnswer> {
  const { network, signal } = caller;
  if (network.cache.shared !== undefined && method.idempotent && mayBeKept(method, prepared, network)) {
    const [shared] = await Promise.all([network.cache.shared(name), network.forwarder.refreshEpoch()]);
    if (shared !== undefined && name === toAnswerName(network, method.name, params)) {
      network.metrics?.answered('memory');
      return toResult(shared);
    }
  }
  const prove = network.integrity?.getProof(method.name, params);
  // Identical calls share a question only if it began with the newest block that both may know of.
  const newest = needsNewest(prepared?.block, network.forwarder) ? await network.forwarder.newest() : null;
  const flight = `${name} ${newest}`;
  const before = network.forwarder.head();
  const owner = getOwnerName(caller);
  const reserved =
    network.memory?.isFull(owner) === true
      ? await network.memory.reserve(signal, owner, method.name)
      : undefined;
  let mine = false;
  const ask = (until: CallSignal): Promise<ForwardAnswer> => {
    mine = true;
    const request = toForwardRequest(caller, prove, {
      method: method.name,
      params,
      idempotent: method.idempotent,
      checkedRead: prepared?.checkedRead,
      timeoutMs: prepared?.timeoutMs ?? network.config.rpc.timeoutMs,
      signal: until,
      block: prepared?.block,
      resultBlock: prepared?.resultBlock,
      check: prepared?.check,
      lacks: getLack(prepared, prove, caller, until),
      crossCheck: method.crossCheck,
      whole: prove !== undefined,
    });
    return network.forwarder.call(request);
  };
  let leave: (() => void) | undefined;
  let answer: ForwardAnswer | undefined;
  try {
    leave = method.enter?.(caller);
    // Nobody knows on which block the answer of an added method depends.
    const isShared = method.idempotent && method.passedOn === undefined;
    answer = await (isShared ? network.shared.join(flight, signal, ask) : ask(signal));
    if (
      method.crossCheck === 'existence' &&
      newest === null &&
      answer.kind === 'result' &&
      isNull(answer.body) &&
      (await headAdvanced(before, network))
    ) {
      answer = await ask(signal);
    }
  } finally {
    leave?.();
    if (answer?.kind !== 'result') reserved?.(0);
  }
  network.metrics?.answered(mine ? 'nodes' : 'shared');
  if (answer.kind !== 'failed') noteOnce(caller.notes?.upstreams, answer.upstream);
  if (answer.kind === 'error') return { kind: 'error', error: answer.error };
  if (answer.kind === 'failed') throw failure(answer, getMaxBytes(network, prove));
  const size = getSize(answer.body);
  if (reserved !== undefined) reserved(size);
  else network.memory?.add(size, signal, owner);
  if (answer.body.rest === null) keep(method, prepared, answer.body, { name, network });
  return { kind: 'result', body: answer.body };
}

/** What an empty list is compared with, unless it is proved. */
function getLack(
  prepared: Prepared | undefined,
  prove: ForwardRequest['prove'],
  caller: CallContext,
  signal: CallSignal,
): ForwardRequest['lacks'] {
  const list = prepared?.list;
  if (list === undefined || prove !== undefined) return undefined;
  return caller.network.emptyLists?.getLack(toCaller(caller, { signal }), list);
}

function isNull(body: ResultBody): boolean {
  return getSize(body) === 4 && body.bytes.toString('latin1') === 'null';
}

/** Whether a gateway knows of a newer block than `before`, in which that what was not found may be. */
async function headAdvanced(before: number | null, { forwarder }: RpcNetwork): Promise<boolean> {
  return ((await forwarder.newest()) ?? -1) > (before ?? -1);
}

/** Whether a result may be in memory: it is about a final block, or only the result tells its block. */
function mayBeKept(method: RpcMethod, prepared: Prepared | undefined, network: RpcNetwork): boolean {
  if (prepared?.aboutBlock === undefined) return method.getResultBlock !== undefined;
  return prepared.aboutBlock <= (network.forwarder.finalized() ?? -1);
}

/** Keeps a result about final blocks; never null, which may change. */
function keep(
  method: RpcMethod,
  prepared: Prepared | undefined,
  body: ResultBody,
  { name, network }: { name: string; network: RpcNetwork },
): void {
  if (!method.idempotent || !mayBeKept(method, prepared, network)) return;
  const about = prepared?.aboutBlock ?? method.getResultBlock?.(body.bytes) ?? null;
  if (about === null || about > (network.forwarder.finalized() ?? -1)) return;
  if (!isNull(body)) network.cache.set(name, body);
}

/** The code in an upstream's error object. */
function getCode(error: Buffer): string {
  try {
    return String((JSON.parse(error.toString('utf8')) as { code?: unknown }).code);
  } catch {
    return 'other';
  }
}

/** The spelling that methods are listed under: `cfx_getLogs` is `core_getLogs`. */
function publicName(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(theirs)) return ours + name.slice(theirs.length);
  }
  return name;
}
