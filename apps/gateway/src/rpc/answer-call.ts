import { isMethodElsewhere, nodeMethod } from '@packhouse/networks';
import type { ForwardAnswer } from '@packhouse/node-rpc';
import { type CallSignal, redact } from '@packhouse/runtime';
import { refuseMethod } from '../access/key-restrictions.js';
import { createSingleFlight, type SingleFlight } from '../cache/single-flight.js';
import { noteOnce } from '../http/exchange.js';
import { PROBLEM_REASONS, Problem, problemOfError } from '../http/problem.js';
import type { Soon } from '../http/soon.js';
import { accountOf, callerName, failure } from './ask-node.js';
import type { CallContext, Prepared, RpcAnswer, RpcMethod, RpcNetwork } from './method.js';
import { pinTags } from './pin-tags.js';
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
 *   forward   at.forwarder     the best upstream; its result is kept if it is about final blocks
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
export function answerCall(call: RpcCall, caller: CallContext): Soon<RpcAnswer> {
  const { at, key, notes } = caller;
  const found = findMethod(at, call.method);
  const name = found?.name ?? 'other';
  if (notes !== undefined) {
    notes.count += 1;
    if (notes.methods.length < NAMED_METHODS) noteOnce(notes.methods, name);
  }
  const ended = at.metrics?.begin(name, key?.prefix ?? '');
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
    end(answer.kind === 'error' ? codeOf(answer.error) : 'ok');
    return answer;
  };
  const failed = (error: unknown): never => {
    end(caller.signal.aborted ? 'aborted' : String(PROBLEM_REASONS[problemOfError(error).reason].code));
    throw error;
  };
  try {
    const method = found ?? methodOf(at, call.method);
    if (key !== undefined) refuseMethod(key, method.name, call.method);
    if (method.handle !== undefined) at.metrics?.answered('own');
    const answer = answerChecked(method, call, span === undefined ? caller : { ...caller, span });
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

/** The method that a network offers under a name, in either of its spellings. */
export function findMethod(at: RpcNetwork, name: string): RpcMethod | undefined {
  const { aliases, deny } = at.network.rpc;
  const method = at.methods.get(name) ?? at.methods.get(publicName(name, aliases));
  return method === undefined || deny.includes(method.name) ? undefined : method;
}

/** What `rpc.allow` can name. */
const METHOD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** They need a connection that stays, which JSON-RPC over HTTP does not have. */
const SUBSCRIPTIONS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe']);

/** As `findMethod`; throws the problems `method-unknown` and `method-unsupported`. */
function methodOf(at: RpcNetwork, name: string): RpcMethod {
  const method = findMethod(at, name);
  if (method !== undefined) return method;
  if (isMethodElsewhere(name, at.network.family)) {
    throw new Problem('method-unsupported', {
      detail: `The method ${name} is not one of this network, but of networks of another family`,
    });
  }
  // Libraries look for "method … does not exist" (ethers 6, JsonRpcApiProvider.getRpcError).
  const mayBeAllowed = METHOD_NAME.test(name) && !SUBSCRIPTIONS.has(name);
  const because = mayBeAllowed
    ? `it is not offered on network ${at.network.id}; the operator can allow it with rpc.allow`
    : 'it is not offered by Packhouse';
  throw new Problem('method-unknown', {
    detail: `The method ${/^\w{1,64}$/.test(name) ? redact(name) : 'asked for'} does not exist or is not available: ${because}`,
  });
}

/** The answer to a notification of a read; it is never sent. */
const NOTHING: RpcAnswer = { kind: 'result', body: { bytes: Buffer.from('null'), rest: null } };

/** Answers one call: by the method itself, from memory, or from the best upstream. Throws problems. */
function answerChecked(method: RpcMethod, call: RpcCall, caller: CallContext): Soon<RpcAnswer> {
  // A read that needs no answer has no effect.
  if (call.id === undefined && method.idempotent) return NOTHING;
  if (method.handle !== undefined) return method.handle(call, caller);
  if (method.pins === true && PINNED.test(call.paramsText)) return answerPinned(method, call, caller);
  return answerNamed(method, call, caller);
}

/** `safe` or `finalized` is among the parameters. */
const PINNED = /"(?:safe|finalized)"/;

/** Answers for the blocks that the tags stand for now, by their numbers. */
async function answerPinned(method: RpcMethod, call: RpcCall, caller: CallContext): Promise<RpcAnswer> {
  const params = await pinTags(call.params, caller.at.forwarder);
  const answer = await answerNamed(method, { ...call, params, paramsText: JSON.stringify(params) }, caller);
  // The text with the tag stands for another block soon.
  return answer.kind === 'result' ? { kind: 'result', body: answer.body } : answer;
}

function answerNamed(method: RpcMethod, call: RpcCall, caller: CallContext): Soon<RpcAnswer> {
  const { at } = caller;
  const { id, chainId } = at.network;
  const prepared = method.prepare?.(call.params, at);
  const params = prepared?.params ?? call.paramsText;
  // With the chain and the proof, because the next networks file may say otherwise under the same name.
  const name = `${id} ${chainId}${at.integrity === undefined ? '' : ' proved'} ${method.name} ${params}`;
  const kept = method.idempotent ? at.cache.get(name) : undefined;
  if (kept !== undefined) {
    at.metrics?.answered('memory');
    return { kind: 'result', body: { bytes: kept, rest: null }, kept: name };
  }
  return forward(method, prepared, params, name, caller);
}

/** Shares one question among identical calls; a streamed answer can be read by one caller only. */
export function createSharedCalls(): SingleFlight<ForwardAnswer> {
  return createSingleFlight((answer) => answer.kind === 'result' && answer.body.rest !== null);
}

/** Smaller answers are not counted: a connection buffers as much anyway. */
const COUNTED_BYTES = 65_536;

async function forward(
  method: RpcMethod,
  prepared: Prepared | undefined,
  params: string,
  name: string,
  caller: CallContext,
): Promise<RpcAnswer> {
  const { at, signal, span } = caller;
  const { rpc } = at.network;
  if (at.cache.far !== undefined && method.idempotent && mayBeKept(method, prepared, at)) {
    const far = await at.cache.far(name);
    if (far !== undefined) {
      at.metrics?.answered('memory');
      return { kind: 'result', body: { bytes: far, rest: null } };
    }
  }
  const prove = at.integrity?.proofOf(method.name, params);
  // Identical calls share a question only if it began with the newest block that both may know of.
  const newest = needsNewest(prepared, at) ? await at.forwarder.newest() : null;
  // A place in a batch is another text; what may be kept is used again.
  const isRead = prove !== undefined || (method.idempotent && mayBeKept(method, prepared, at));
  const passedOn = caller.reserve === undefined && !isRead;
  const flight = `${name} ${newest} ${passedOn}`;
  const before = at.forwarder.head();
  const owner = callerName(caller);
  const held = at.memory?.mustEnter(owner) === true ? await at.memory.enter(signal, owner) : undefined;
  const maxBytes = (prove && at.integrity?.mostBytes) ?? rpc.maxAnswerBytes;
  let mine = false;
  const ask = (until: CallSignal): Promise<ForwardAnswer> => {
    mine = true;
    return at.forwarder.call({
      method: nodeMethod(method.name, rpc.aliases),
      params,
      idempotent: method.idempotent,
      timeoutMs: prepared?.timeoutMs ?? rpc.timeoutMs,
      maxBytes,
      signal: until,
      caller: owner,
      account: accountOf(caller),
      passedOn,
      ...(prove === undefined ? {} : { prove, whole: true }),
      ...(prepared?.block === undefined ? {} : { block: prepared.block }),
      ...(prepared?.tells === undefined ? {} : { tells: prepared.tells }),
      ...(prepared?.fits === undefined ? {} : { fits: prepared.fits }),
      ...(method.asks === undefined ? {} : { asks: method.asks }),
      ...(span === undefined ? {} : { span }),
    });
  };
  let leave: (() => void) | undefined;
  let answer: ForwardAnswer | undefined;
  try {
    leave = method.enter?.(caller);
    answer = await (method.idempotent ? at.shared.join(flight, signal, ask) : ask(signal));
    if (method.asks === 'whether' && newest === null && isNull(answer) && (await grew(before, at))) {
      answer = await ask(signal);
    }
  } finally {
    leave?.();
    if (answer?.kind !== 'result') held?.(0);
  }
  at.metrics?.answered(mine ? 'nodes' : 'shared');
  if (answer.kind !== 'failed') noteOnce(caller.notes?.upstreams, answer.upstream);
  if (answer.kind === 'error') return { kind: 'error', error: answer.error };
  if (answer.kind === 'failed') throw failure(answer, { maxAnswerBytes: maxBytes });
  const { length } = answer.body.bytes;
  if (held !== undefined) held(length);
  else if (length > COUNTED_BYTES) at.memory?.hold(length, signal, owner);
  if (answer.body.rest === null && !passedOn) keep(method, prepared, answer.body.bytes, name, at);
  return { kind: 'result', body: answer.body };
}

/** Whether what is answered depends on a block that only another gateway may know of. */
function needsNewest(prepared: Prepared | undefined, { forwarder }: RpcNetwork): boolean {
  const { block } = prepared ?? {};
  return block === 'tip' || (block !== undefined && block > (forwarder.head() ?? -1));
}

function isNull(answer: ForwardAnswer): boolean {
  return (
    answer.kind === 'result' && answer.body.bytes.length === 4 && answer.body.bytes.toString() === 'null'
  );
}

/** Whether a gateway knows of a newer block than `before`, in which that what was not found may be. */
async function grew(before: number | null, { forwarder }: RpcNetwork): Promise<boolean> {
  return ((await forwarder.newest()) ?? -1) > (before ?? -1);
}

/** Whether a result may be in memory: it is about a final block, or only the result tells its block. */
function mayBeKept(method: RpcMethod, prepared: Prepared | undefined, at: RpcNetwork): boolean {
  if (prepared?.about === undefined) return method.aboutOf !== undefined;
  return prepared.about <= (at.forwarder.finalized() ?? -1);
}

/** Keeps a result about final blocks; never null, which may change. */
function keep(
  method: RpcMethod,
  prepared: Prepared | undefined,
  result: Buffer,
  name: string,
  at: RpcNetwork,
): void {
  const about = prepared?.about ?? method.aboutOf?.(result) ?? null;
  if (about === null || about > (at.forwarder.finalized() ?? -1)) return;
  if (result.length === 4 && result.toString('latin1') === 'null') return;
  at.cache.set(name, result);
}

/** The code in an upstream's error object. */
function codeOf(error: Buffer): string {
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
