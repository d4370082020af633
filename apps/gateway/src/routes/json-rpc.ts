import type { FairTurns } from '@packhouse/runtime';
import { OTHER } from '../access/admission.js';
import { isRestricted } from '../access/key-restrictions.js';
import type { CountedCall } from '../access/rate-limiter.js';
import type { KnownCall } from '../cache/known-texts.js';
import { beginCalls, type Exchange } from '../http/exchange.js';
import { PROBLEM_REASONS, problemOfError } from '../http/problem.js';
import type { Route } from '../http/router.js';
import { type Soon, whenHere } from '../http/soon.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { answerBatch, hasAnswers } from '../rpc/answer-batch.js';
import { answerCall, findMethod } from '../rpc/answer-call.js';
import { createBatchTurns } from '../rpc/batch-turns.js';
import type { CallContext, RpcAnswer, RpcMethod, RpcNetwork } from '../rpc/method.js';
import { type RpcCall, type RpcItem, readRequest } from '../rpc/read-request.js';
import { sendAnswer, sendRefusal } from '../rpc/send.js';
import type { GatewayParts } from './gateway-parts.js';

/** Bytes of a body that one unit pays for: as many calls of usual size cost more than that. */
const UNIT_BYTES = 16_384;
/** How many times as long as checking or sending it parsing a body takes. */
const PARSING = 16;

/** `POST {base_url}<KEY>` of one network; of an open one `POST {base_url}` too, where a key in the address counts. */
export function jsonRpcRoutes(
  parts: GatewayParts,
  { network, base }: ServedNetwork,
  at: RpcNetwork,
): Route[] {
  const { open } = network.rpc;
  const turns = createBatchTurns(network);
  const keyed = `${base.path}/:key`;
  const paths = open ? [base.path, `${base.path}/`, keyed] : [keyed];
  return paths.map((path) => {
    const bodyLimit = parts.bodyLimits[path === keyed ? 'keyed' : 'open'];
    return {
      method: 'POST',
      path,
      host: base.host,
      name: 'rpc',
      network: network.id,
      document: { path: path === keyed ? '/{key}' : '/', servedAt: 'baseUrl' },
      bodyLimit,
      admit(exchange) {
        const key = path === keyed ? parts.admission.identify(exchange.param('key'), exchange) : undefined;
        if (key instanceof Promise) return key.then(() => admitBody(parts, exchange, bodyLimit));
        return admitBody(parts, exchange, bodyLimit);
      },
      answer: (exchange) => answerJsonRpc(parts, at, exchange, turns),
      refuse: (exchange, error) => refuseWhole(parts, at, exchange, error),
    };
  });
}

/** Counts a long body before it is read, as far as its length is known. */
function admitBody(parts: GatewayParts, exchange: Exchange, limit: number): Soon<unknown> {
  exchange.uncounted = true;
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return chargeBody(parts, exchange, 1);
  const bytes = Number(headers['content-length'] ?? 0);
  // A longer one is refused without being read.
  return bytes > limit ? undefined : chargeBytes(parts, exchange, bytes);
}

function chargeBytes(parts: GatewayParts, exchange: Exchange, bytes: number): Soon<unknown> {
  // Each request costs one unit at least.
  return bytes <= UNIT_BYTES ? undefined : chargeBody(parts, exchange, Math.ceil(bytes / UNIT_BYTES));
}

/** Counts the units of a body that are not counted yet. Throws the problem `rate-limited`. */
function chargeBody(parts: GatewayParts, exchange: Exchange, units: number): Soon<unknown> {
  const more = units - exchange.paid;
  if (more <= 0) return undefined;
  exchange.uncounted = false;
  const paid = (): void => {
    exchange.uncounted = true;
  };
  if (exchange.key !== undefined) {
    return whenHere(parts.admission.chargeBody(exchange.key, more, exchange), paid);
  }
  const charged = parts.addressLimiter.charge(exchange.ip, exchange.paid + more, exchange, exchange.paid);
  return whenHere(charged, () => {
    exchange.paid += more;
    paid();
  });
}

/** Answers a request after admission, synchronously if no upstream is asked. Throws problems of the whole request. */
function answerJsonRpc(
  parts: GatewayParts,
  at: RpcNetwork,
  exchange: Exchange,
  turns: FairTurns,
): Soon<unknown> {
  const { key, body } = exchange;
  if (body !== undefined && exchange.span === undefined && (key === undefined || !isRestricted(key))) {
    const known = at.known.find(body);
    if (known !== undefined) return answerKnown(parts, at, exchange, known);
  }
  const length = body?.length ?? 0;
  return whenHere(chargeBytes(parts, exchange, length), () => {
    const turn = length > UNIT_BYTES ? exchange.turn(length * PARSING) : undefined;
    if (turn === undefined) return answerParsed(parts, at, exchange, turns);
    return turn.then(
      () => answerParsed(parts, at, exchange, turns),
      // The client is gone.
      () => undefined,
    );
  });
}

/** Answers a request after its body was counted, when its turn has come. */
function answerParsed(
  parts: GatewayParts,
  at: RpcNetwork,
  exchange: Exchange,
  turns: FairTurns,
): Soon<unknown> {
  const { batch, items } = readRequest(exchange.body, parts.batchCalls);
  const calls = items.map((item) => countedCall(at, item));
  return whenHere(charge(parts, exchange, calls), () => {
    const caller = callerOf(parts, at, exchange);
    if (batch) {
      at.metrics?.batch(items.length);
      return sendBatch(exchange, items, caller, turns);
    }
    const item = items[0] as RpcItem;
    if ('problem' in item) return refuse(parts, at, exchange, item.problem, item.id);
    return sendOne(parts, exchange, item.call, caller);
  });
}

/** Answers a known text from memory, and records it like any other call. */
function answerKnown(
  parts: GatewayParts,
  at: RpcNetwork,
  exchange: Exchange,
  { method, id, result }: KnownCall<RpcMethod>,
): Soon<unknown> {
  const answer = (): void => {
    exchange.calls = { count: 1, methods: [method.name], upstreams: [], codes: [], failed: [] };
    const seconds = (performance.now() - exchange.startedAt) / 1_000;
    at.metrics?.remembered(method.name, exchange.prefix, seconds);
    sendAnswer(exchange, id, { kind: 'result', body: { bytes: result, rest: null } });
  };
  const charged = charge(parts, exchange, [method]);
  return charged instanceof Promise ? charged.then(answer) : answer();
}

/** Counts the calls of a request, once. Throws the problems `rate-limited` and `quota-exhausted`. */
function charge(parts: GatewayParts, exchange: Exchange, calls: readonly CountedCall[]): Soon<unknown> {
  if (!exchange.uncounted) return undefined;
  exchange.uncounted = false;
  if (exchange.key !== undefined) return parts.admission.charge(exchange.key, calls, exchange);
  const cost = calls.reduce((sum, call) => sum + call.cost, 0);
  return parts.addressLimiter.charge(exchange.ip, cost, exchange, exchange.paid);
}

function refuse(parts: GatewayParts, at: RpcNetwork, exchange: Exchange, error: unknown, id?: string): void {
  const { logger } = parts.context;
  const { calls, prefix } = exchange;
  // A call that has begun is counted when it ends.
  if (calls === undefined || calls.count === 0) {
    at.metrics?.refused(prefix, String(PROBLEM_REASONS[problemOfError(error).reason].code));
  }
  sendRefusal(exchange, error, { logger, id, httpErrors: at.network.rpc.httpErrors });
}

/** A request that cannot be parsed counts as one, and its answer has the rate limit headers as any other. */
async function refuseWhole(
  parts: GatewayParts,
  at: RpcNetwork,
  exchange: Exchange,
  error: unknown,
): Promise<void> {
  let refusal = error;
  try {
    await charge(parts, exchange, [OTHER]);
  } catch (tooMany) {
    refusal = tooMany;
  }
  exchange.refusal = problemOfError(refusal).reason;
  await parts.admission.sayLeft(exchange);
  refuse(parts, at, exchange, refusal);
}

/** The signal is created on first use; answers from memory do without it. */
function callerOf({ context }: GatewayParts, at: RpcNetwork, exchange: Exchange): CallContext {
  const { key, span } = exchange;
  const notes = beginCalls();
  exchange.calls = notes;
  return {
    // One by one: a spread beside a getter makes this object three times as slow to create.
    notes,
    span,
    context,
    at,
    key,
    address: key === undefined ? exchange.ip : undefined,
    whenSent: (then) => exchange.whenSent(then),
    get signal() {
      return exchange.gone;
    },
  };
}

function sendOne(parts: GatewayParts, exchange: Exchange, call: RpcCall, caller: CallContext): Soon<unknown> {
  const { id } = call;
  const failed = (error: unknown): void => {
    // If the client is gone, there is nobody to answer, and nothing failed.
    if (id === undefined || exchange.response.destroyed) exchange.status(204).sendNothing();
    else refuse(parts, caller.at, exchange, error, id);
  };
  try {
    const answer = answerCall(call, caller);
    const send = (given: RpcAnswer): void => {
      if (id === undefined) {
        exchange.status(204).sendNothing();
        return;
      }
      if (given.kind === 'result' && given.kept !== undefined) {
        const method = findMethod(caller.at, call.method) as RpcMethod;
        caller.at.known.note(exchange.body as Buffer, id, method, given.kept);
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

function countedCall(at: RpcNetwork, item: RpcItem): CountedCall {
  return 'problem' in item ? OTHER : (findMethod(at, item.call.method) ?? OTHER);
}
