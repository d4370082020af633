import { nodeMethod } from '@packhouse/networks';
import type { ForwardAnswer } from '@packhouse/node-rpc';
import { type CallSignal, redact } from '@packhouse/runtime';
import { createSingleFlight, type SingleFlight } from '../cache/single-flight.js';
import { noteOnce } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import type { Soon } from '../http/soon.js';
import type { Prepared, RpcAnswer, RpcMethod, RpcSite, RpcVisit } from './method.js';
import { isMethodSomewhere } from './method-families.js';
import type { RpcCall } from './read-request.js';

/** The method that a network offers under a name, in either of its spellings. */
export function findMethod(at: RpcSite, name: string): RpcMethod | undefined {
  const { aliases, deny } = at.site.network.rpc;
  const method = at.methods.get(name) ?? at.methods.get(publicName(name, aliases));
  return method === undefined || deny.includes(method.name) ? undefined : method;
}

/** The same; throws the problems `method-unknown` and `method-unsupported`. */
export function methodOf(at: RpcSite, name: string): RpcMethod {
  const method = findMethod(at, name);
  if (method !== undefined) return method;
  const { aliases, deny } = at.site.network.rpc;
  // What the operator turned off is not told from what never was.
  if (isMethodSomewhere(name) && !deny.includes(publicName(name, aliases))) {
    throw new Problem('method-unsupported', {
      detail: `The method ${name} is not one of this network, but of networks of another family`,
    });
  }
  throw new Problem('method-unknown', {
    detail: `The method ${/^\w{1,64}$/.test(name) ? redact(name) : 'asked for'} does not exist or is not available`,
  });
}

/** What a notification of a read gets; nobody sees it. */
const NOTHING: RpcAnswer = { kind: 'result', body: { bytes: Buffer.from('null'), rest: null } };

/** Answers one call: by the method itself, from memory, or by the best node. Throws problems. */
export function answerCall(method: RpcMethod, call: RpcCall, visit: RpcVisit): Soon<RpcAnswer> {
  // A read that nobody gets the answer of has no effect.
  if (call.id === undefined && method.idempotent) return NOTHING;
  if (method.handle !== undefined) return method.handle(call, visit);
  const { at } = visit;
  const { id, chainId } = at.site.network;
  const prepared = method.prepare?.(call.params, at);
  const params = prepared?.params ?? call.paramsText;
  // The chain too: another one may come under the same name with the next networks file.
  const name = `${id} ${chainId} ${method.name} ${params}`;
  const kept = method.idempotent ? at.cache.get(name) : undefined;
  if (kept !== undefined) {
    at.metrics?.answered('memory');
    return { kind: 'result', body: { bytes: kept, rest: null }, kept: name };
  }
  return forward(method, prepared, params, name, visit);
}

/** Passes the same question on once at a time; a streamed answer can be read by one caller only. */
export function createSharedCalls(): SingleFlight<ForwardAnswer> {
  return createSingleFlight((answer) => answer.kind === 'result' && answer.body.rest !== null);
}

/** Smaller answers are not worth counting: they fit into what a connection buffers anyway. */
const COUNTED_BYTES = 65_536;

async function forward(
  method: RpcMethod,
  prepared: Prepared | undefined,
  params: string,
  name: string,
  visit: RpcVisit,
): Promise<RpcAnswer> {
  const { at, key, signal, span } = visit;
  const { rpc } = at.site.network;
  if (at.cache.far !== undefined && method.idempotent && mayBeKept(method, prepared, at)) {
    const far = await at.cache.far(name);
    if (far !== undefined) {
      at.metrics?.answered('memory');
      return { kind: 'result', body: { bytes: far, rest: null } };
    }
  }
  const held = at.memory?.full === true ? await at.memory.enter(signal, key?.id ?? 0) : undefined;
  let mine = false;
  const ask = (until: CallSignal): Promise<ForwardAnswer> => {
    mine = true;
    return at.forwarder.call({
      method: nodeMethod(method.name, rpc.aliases),
      params,
      idempotent: method.idempotent,
      timeoutMs: prepared?.timeoutMs ?? rpc.timeoutMs,
      maxBytes: rpc.maxAnswerBytes,
      signal: until,
      ...(prepared?.block === undefined ? {} : { block: prepared.block }),
      ...(span === undefined ? {} : { span }),
    });
  };
  let leave: (() => void) | undefined;
  let answer: ForwardAnswer | undefined;
  try {
    leave = method.enter?.(visit);
    answer = await (method.idempotent ? at.shared.join(name, signal, ask) : ask(signal));
  } finally {
    leave?.();
    if (answer?.kind !== 'result') held?.(0);
  }
  at.metrics?.answered(mine ? 'nodes' : 'shared');
  if (answer.kind !== 'failed') noteOnce(visit.notes?.upstreams, answer.upstream);
  if (answer.kind === 'error') return { kind: 'error', error: answer.error };
  if (answer.kind === 'failed') throw failure(answer, rpc);
  const { length } = answer.body.bytes;
  if (held !== undefined) held(length);
  else if (length > COUNTED_BYTES) at.memory?.hold(length, signal, key?.id ?? 0);
  if (answer.body.rest === null) keep(method, prepared, answer.body.bytes, name, at);
  return { kind: 'result', body: answer.body };
}

/** Whether there can be a kept result: it is about a final block, or only the result tells what it is about. */
function mayBeKept(method: RpcMethod, prepared: Prepared | undefined, at: RpcSite): boolean {
  if (prepared?.about === undefined) return method.aboutOf !== undefined;
  return prepared.about <= (at.forwarder.finalized() ?? -1);
}

/** Keeps a result about final blocks; never null, which may become something. */
function keep(
  method: RpcMethod,
  prepared: Prepared | undefined,
  result: Buffer,
  name: string,
  at: RpcSite,
): void {
  const about = prepared?.about ?? method.aboutOf?.(result) ?? null;
  if (about === null || about > (at.forwarder.finalized() ?? -1)) return;
  if (result.length === 4 && result.toString('latin1') === 'null') return;
  at.cache.set(name, result);
}

const REASONS = {
  timeout: 'upstream-timeout',
  unavailable: 'upstream-unavailable',
  nonsense: 'upstream-nonsense',
  'too-large': 'answer-too-large',
} as const;

/** Seconds that a client is asked to wait where no node can be asked. */
const RETRY_AFTER_SECONDS = 1;

/** The problem for a call that no node answered; `limits` where the answer may have been too large. */
export function failure(
  failed: { reason: keyof typeof REASONS; detail: string; retryAfterMs?: number },
  limits?: { readonly maxAnswerBytes: number },
): Problem {
  const seconds = Math.max(RETRY_AFTER_SECONDS, Math.ceil((failed.retryAfterMs ?? 0) / 1_000));
  const later = failed.reason === 'unavailable';
  return new Problem(REASONS[failed.reason], {
    detail: `The request could not be answered: ${failed.detail}.`,
    ...(failed.reason === 'too-large' ? { members: { limit: limits?.maxAnswerBytes } } : {}),
    ...(later
      ? { members: { retryAfterMs: seconds * 1_000 }, headers: { 'retry-after': String(seconds) } }
      : {}),
  });
}

/** The spelling that methods are listed under: `cfx_getLogs` is `core_getLogs`. */
function publicName(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(theirs)) return ours + name.slice(theirs.length);
  }
  return name;
}
