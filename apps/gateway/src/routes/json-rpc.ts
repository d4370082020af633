import type { KeyRow } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import {
  type CallSignal,
  type Context,
  createFairTurns,
  type FairTurns,
  type Span,
} from '@packhouse/runtime';
import { OTHER } from '../access/admission.js';
import { isRestricted } from '../access/key-restrictions.js';
import type { CountedCall } from '../access/rate-limiter.js';
import type { CachedCall } from '../cache/request-cache.js';
import { beginCalls, type Exchange } from '../http/exchange.js';
import { type MaybePromise, thenSync } from '../http/maybe-promise.js';
import { PROBLEM_REASONS, toProblem } from '../http/problem.js';
import type { Route } from '../http/route.js';
import { rpcAddresses, type ServedNetwork } from '../networks/served-network.js';
import { answerBatch, hasAnswers } from '../rpc/answer-batch.js';
import { answerCall, findMethod, isRangeLimited } from '../rpc/answer-call.js';
import type { CallContext, RpcAnswer, RpcMethod, RpcNetwork } from '../rpc/method.js';
import { type RpcCall, type RpcItem, readRequest } from '../rpc/read-request.js';
import { sendAnswer, sendRefusal } from '../rpc/send.js';
import type { GatewayParts } from './common/gateway-parts.js';

/** Bytes of a body that one unit pays for: as many calls of usual size cost more than that. */
const UNIT_BYTES = 16_384;
/** How many times as long as checking or sending it parsing a body takes. */
const PARSING = 16;

/** What the requests of one network are answered with. */
interface Rpc {
  readonly parts: GatewayParts;
  readonly network: RpcNetwork;
  readonly turns: FairTurns;
}

/** `POST {base_url}<KEY>` of one network; of an open one `POST {base_url}` too, where a key in the address counts. */
export function jsonRpcRoutes(parts: GatewayParts, served: ServedNetwork, network: RpcNetwork): Route[] {
  const rpc = { parts, network, turns: createBatchTurns(network.config) };
  return rpcAddresses(served).map(({ path, keyed }) => {
    const bodyLimit = parts.bodyLimits[keyed ? 'keyed' : 'open'];
    return {
      method: 'POST',
      path,
      host: served.base.host,
      name: 'rpc',
      network: network.config.id,
      document: { path: keyed ? '/{key}' : '/', servedAt: 'baseUrl' },
      bodyLimit,
      admit: (exchange) =>
        thenSync(keyed ? parts.admission.identify(exchange.param('key'), exchange) : undefined, () =>
          admitBody(parts, exchange, bodyLimit),
        ),
      answer: (exchange) => answerJsonRpc(rpc, exchange),
      refuse: (exchange, error) => refuseWhole(rpc, exchange, error),
    };
  });
}

/** Counts a long body before it is read, as far as its length is known. */
function admitBody(parts: GatewayParts, exchange: Exchange, limit: number): MaybePromise<unknown> {
  exchange.uncounted = true;
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return chargeBody(parts, exchange, 1);
  const bytes = Number(headers['content-length'] ?? 0);
  // A longer one is refused without being read.
  return bytes > limit ? undefined : chargeBytes(parts, exchange, bytes);
}

function chargeBytes(parts: GatewayParts, exchange: Exchange, bytes: number): MaybePromise<unknown> {
  // Each request costs one unit at least.
  return bytes <= UNIT_BYTES ? undefined : chargeBody(parts, exchange, Math.ceil(bytes / UNIT_BYTES));
}

/** Counts the units of a body that are not counted yet. Throws the problem `rate-limited`. */
function chargeBody(parts: GatewayParts, exchange: Exchange, units: number): MaybePromise<unknown> {
  const more = units - exchange.chargedUnits;
  if (more <= 0) return undefined;
  exchange.uncounted = false;
  const charged =
    exchange.key === undefined
      ? parts.addressLimiter.charge(exchange.ip, units, exchange, exchange.chargedUnits)
      : parts.admission.chargeBody(exchange.key, more, exchange);
  return thenSync(charged, () => {
    exchange.chargedUnits = units;
    exchange.uncounted = true;
  });
}

/** Answers a request after admission, synchronously if no upstream is called. Throws problems of the whole request. */
function answerJsonRpc(rpc: Rpc, exchange: Exchange): MaybePromise<unknown> {
  const { key, body } = exchange;
  if (body !== undefined && exchange.span === undefined && (key === undefined || !isRestricted(key))) {
    const known = rpc.network.requestCache.find(body);
    if (known !== undefined && !isRangeLimited(known.method, key)) return answerCached(rpc, exchange, known);
  }
  const length = body?.length ?? 0;
  return thenSync(chargeBytes(rpc.parts, exchange, length), () => {
    const turn = length > UNIT_BYTES ? exchange.turn(length * PARSING) : undefined;
    if (turn === undefined) return answerParsed(rpc, exchange);
    return turn.then(
      () => answerParsed(rpc, exchange),
      // The client is gone.
      () => undefined,
    );
  });
}

/** Answers a request after its body was counted, when its turn has come. */
function answerParsed(rpc: Rpc, exchange: Exchange): MaybePromise<unknown> {
  const { parts, network, turns } = rpc;
  const { batch, items } = readRequest(exchange.body, parts.batchCalls);
  const calls = items.map((item) => countedCall(network, item));
  return thenSync(charge(parts, exchange, calls), () => {
    const caller = new RequestCaller(parts, network, exchange);
    if (batch) {
      network.metrics?.batch(items.length);
      return sendBatch(exchange, items, caller, turns);
    }
    const item = items[0] as RpcItem;
    if ('problem' in item) return refuse(rpc, exchange, item.problem, item.id);
    return sendOne(rpc, exchange, item.call, caller);
  });
}

/** Answers a known text from memory, and records it like any other call. */
function answerCached(
  { parts, network }: Rpc,
  exchange: Exchange,
  { method, id, result }: CachedCall<RpcMethod>,
): MaybePromise<unknown> {
  const answer = (): void => {
    exchange.calls = { count: 1, methods: [method.name], upstreams: [], codes: [], failed: [] };
    const seconds = (performance.now() - exchange.startedAt) / 1_000;
    network.metrics?.fromMemory(method.name, exchange.prefix, seconds);
    sendAnswer(exchange, id, { kind: 'result', body: { bytes: result, rest: null } });
  };
  return thenSync(charge(parts, exchange, [method]), answer);
}

/** Counts the calls of a request, once. Throws the problems `rate-limited` and `quota-exhausted`. */
function charge(
  parts: GatewayParts,
  exchange: Exchange,
  calls: readonly CountedCall[],
): MaybePromise<unknown> {
  if (!exchange.uncounted) return undefined;
  exchange.uncounted = false;
  if (exchange.key !== undefined) return parts.admission.charge(exchange.key, calls, exchange);
  const cost = calls.reduce((sum, call) => sum + call.cost, 0);
  return parts.addressLimiter.charge(exchange.ip, cost, exchange, exchange.chargedUnits);
}

function refuse({ parts, network }: Rpc, exchange: Exchange, error: unknown, id?: string): void {
  const { logger } = parts.context;
  const { calls, prefix } = exchange;
  // A call that has begun is counted when it ends.
  if (calls === undefined || calls.count === 0) {
    network.metrics?.refused(prefix, String(PROBLEM_REASONS[toProblem(error).reason].code));
  }
  sendRefusal(exchange, error, { logger, id, httpErrors: network.config.rpc.httpErrors });
}

/** A request that cannot be parsed counts as one, and its answer has the rate limit headers as any other. */
async function refuseWhole(rpc: Rpc, exchange: Exchange, error: unknown): Promise<void> {
  const { parts } = rpc;
  let refusal = error;
  try {
    await charge(parts, exchange, [OTHER]);
  } catch (tooMany) {
    refusal = tooMany;
  }
  exchange.refusal = toProblem(refusal).reason;
  await parts.admission.setRateLimitHeaders(exchange);
  refuse(rpc, exchange, refusal);
}

/** The signal is created on first use; answers from memory do without it. A class: a getter is made once. */
class RequestCaller implements CallContext {
  readonly context: Context;
  readonly network: RpcNetwork;
  readonly key: KeyRow | undefined;
  readonly address: string | undefined;
  readonly notes = beginCalls();
  readonly span: Span | undefined;
  deadline: number | undefined;
  readonly #exchange: Exchange;

  constructor({ context }: GatewayParts, network: RpcNetwork, exchange: Exchange) {
    const { key, span } = exchange;
    this.context = context;
    this.network = network;
    this.key = key;
    this.address = key === undefined ? exchange.ip : undefined;
    this.span = span;
    this.#exchange = exchange;
    exchange.calls = this.notes;
  }

  get signal(): CallSignal {
    return this.#exchange.signal;
  }

  readonly whenSent = (then: (sent: boolean) => void): void => this.#exchange.whenSent(then);
}

function sendOne(rpc: Rpc, exchange: Exchange, call: RpcCall, caller: CallContext): MaybePromise<unknown> {
  const { id } = call;
  const failed = (error: unknown): void => {
    // If the client is gone, there is nobody to answer, and nothing failed.
    if (id === undefined || exchange.response.destroyed) exchange.status(204).sendNothing();
    else refuse(rpc, exchange, error, id);
  };
  try {
    const answer = answerCall(call, caller);
    const send = (given: RpcAnswer): void => {
      if (id === undefined) {
        exchange.status(204).sendNothing();
        return;
      }
      if (given.kind === 'result' && given.kept !== undefined) {
        const method = findMethod(caller.network, call.method) as RpcMethod;
        caller.network.requestCache.add(exchange.body as Buffer, id, method, given.kept);
      }
      sendAnswer(exchange, id, given);
    };
    return answer instanceof Promise ? answer.then(send).catch(failed) : send(answer);
  } catch (error) {
    return failed(error);
  }
}

async function sendBatch(
  exchange: Exchange,
  items: readonly RpcItem[],
  caller: CallContext,
  turns: FairTurns,
): Promise<void> {
  const answers = answerBatch(items, caller, exchange, turns);
  if (hasAnswers(items)) {
    exchange.header('content-type', 'application/json').sendStream(answers);
    return;
  }
  // The calls are made, and nothing is sent.
  await answers.next();
  exchange.status(204).sendNothing();
}

function countedCall(network: RpcNetwork, item: RpcItem): CountedCall {
  return 'problem' in item ? OTHER : (findMethod(network, item.call.method) ?? OTHER);
}

/** What batches may use of the requests that the nodes asked first take at a time. */
const SHARE = 0.75;

/**
 * Limits the calls of all batches of one network together, so that single calls find a connection to a node. Callers take
 * turns; a batch waits with a few calls at a time.
 */
function createBatchTurns({ upstreams }: Pick<Network, 'upstreams'>): FairTurns {
  const first = Math.min(...upstreams.map(({ priority }) => priority));
  const inFlight = upstreams.reduce(
    (sum, { priority, maxInFlight }) => sum + (priority === first ? maxInFlight : 0),
    0,
  );
  return createFairTurns(Math.max(1, Math.floor(inFlight * SHARE)));
}
