import type { IncomingMessage } from 'node:http';
import type { KeyRow } from '@packhouse/database';
import { CallController } from '@packhouse/runtime';
import type { FastifyInstance } from 'fastify';
import { isRestricted } from '../auth/key-restrictions.js';
import { problemOfError } from '../http/problem-of-error.js';
import { PROBLEM_REASONS } from '../http/problem-reasons.js';
import { answerBatch } from '../rpc/answer-batch.js';
import { findMethod } from '../rpc/answer-call.js';
import { answerObserved } from '../rpc/answer-observed.js';
import type { KnownCall } from '../rpc/known-texts.js';
import type { RpcAnswer, RpcMethod, RpcSite, RpcVisit } from '../rpc/method.js';
import { type RpcCall, type RpcItem, readRequest } from '../rpc/read-request.js';
import { type RpcReply, sendAnswer } from '../rpc/send-answer.js';
import { sendRefusal } from '../rpc/send-refusal.js';
import { type Soon, whenHere } from '../server/soon.js';
import { beginCalls, type Visit } from '../server/visit.js';
import { constraintsOf } from '../sites/host-constraint.js';
import type { GatewayParts } from './gateway-parts.js';

/** `POST {base_url}<KEY>` of one network; `POST {base_url}` of an open one. */
export function jsonRpcRoute(app: FastifyInstance, parts: GatewayParts, at: RpcSite): void {
  const { site } = at;
  const { network } = site;
  const { open } = network.rpc;
  const paths = open ? [site.base.path, `${site.base.path}/`] : [`${site.base.path}/:key`];
  for (const path of paths) {
    app.post<{ Params: { key?: string } }>(
      path,
      {
        constraints: constraintsOf(site.base),
        config: { document: { path: open ? '/' : '/{key}', servedAt: 'baseUrl' } },
        errorHandler: (error, request, reply) =>
          refuseWhole(parts, at, request as RpcExchange, reply as unknown as RpcReply, error),
        // Before the body is read: strangers send nothing but a head.
        onRequest: async (request) => {
          request.visit.route = 'rpc';
          request.visit.network = network.id;
          const key = open ? undefined : await parts.admission.identify(request.params.key, request.visit);
          request.rpcCaller = { key };
        },
      },
      (request, reply) => answerJsonRpc(parts, at, request as RpcExchange, reply as unknown as RpcReply),
    );
  }
}

/** A request as this route needs it, come by the router or past it. */
export interface RpcExchange {
  readonly id: string;
  readonly ip: string;
  readonly body: unknown;
  readonly raw: IncomingMessage;
  readonly visit: Visit;
  /** Absent past the router, which takes no larger bodies. */
  readonly routeOptions?: { readonly bodyLimit?: number };
  /** Who calls and was not counted yet; the key is absent on an open network. */
  rpcCaller?: { key: KeyRow | undefined } | undefined;
}

/** Answers a request whose key is known; at once where nobody has to be asked. Throws problems of the whole request. */
export function answerJsonRpc(
  parts: GatewayParts,
  at: RpcSite,
  request: RpcExchange,
  reply: RpcReply,
): Soon<unknown> {
  const key = request.rpcCaller?.key;
  const body = request.body as Buffer | undefined;
  if (body !== undefined && request.visit.span === undefined && (key === undefined || !isRestricted(key))) {
    const known = at.known.find(body);
    if (known !== undefined) return answerKnown(parts, at, request, reply, known);
  }
  const { batch, items } = readRequest(body);
  let cost = 0;
  for (const item of items) cost += costOf(at, item);
  return whenHere(charge(parts, request, reply, cost), () => {
    const visit = visitOf(parts, at, key, request, reply);
    if (batch) at.metrics?.batch(items.length);
    if (batch) return sendBatch(request, reply, items, visit);
    const item = items[0] as RpcItem;
    if ('problem' in item) return refuse(parts, at, request, reply, item.problem, item.id);
    return sendOne(parts, request, reply, item.call, visit);
  });
}

/** Answers what was asked and answered before, and notes it as any other call. */
function answerKnown(
  parts: GatewayParts,
  at: RpcSite,
  request: RpcExchange,
  reply: RpcReply,
  { method, id, result }: KnownCall,
): Soon<unknown> {
  const { visit } = request;
  const answer = (): unknown => {
    visit.calls = beginCalls();
    visit.calls.count = 1;
    visit.calls.methods.push(method.name);
    at.metrics?.remembered(method.name, visit.prefix, (performance.now() - visit.startedAt) / 1_000);
    return sendAnswer(request, reply, id, { kind: 'result', body: { bytes: result, rest: null } });
  };
  const charged = charge(parts, request, reply, method.cost);
  return charged instanceof Promise ? charged.then(answer) : answer();
}

/** Counts a request, once. Throws the problems `rate-limited` and `quota-exhausted`. */
function charge(parts: GatewayParts, request: RpcExchange, reply: RpcReply, cost: number): Soon<unknown> {
  const caller = request.rpcCaller;
  request.rpcCaller = undefined;
  if (caller === undefined) return undefined;
  if (caller.key === undefined) return parts.openDoor.charge(request.ip, cost, reply);
  return parts.admission.charge(caller.key, cost, reply);
}

function refuse(
  { context }: GatewayParts,
  at: RpcSite,
  request: RpcExchange,
  reply: RpcReply,
  error: unknown,
  id?: string,
): unknown {
  const { httpErrors } = at.site.network.rpc;
  const { calls, prefix } = request.visit;
  // What was called is counted by the one that answers calls.
  if (calls === undefined || calls.count === 0) countRefusal(at, prefix, error);
  return sendRefusal(error, request, reply, { logger: context.logger, id, httpErrors });
}

/** What cannot be read counts as one request, and its answer says what is left as any other does. */
export async function refuseWhole(
  parts: GatewayParts,
  at: RpcSite,
  request: RpcExchange,
  reply: RpcReply,
  error: unknown,
): Promise<unknown> {
  let refusal = error;
  try {
    await charge(parts, request, reply, 1);
  } catch (tooMany) {
    refusal = tooMany;
  }
  // Whoever waits for this waits until it is sent.
  return refuse(parts, at, request, reply, refusal);
}

/** Nobody reads where it was made, and each would cost a look at the stack. */
const GONE = new Error('the client went away');

/** The signal is made for those who ask for it: what is answered from memory does without. */
function visitOf(
  parts: GatewayParts,
  at: RpcSite,
  key: KeyRow | undefined,
  request: RpcExchange,
  reply: RpcReply,
): RpcVisit {
  const { visit } = request;
  let gone: CallController | undefined;
  visit.calls = beginCalls();
  return {
    notes: visit.calls,
    span: visit.span,
    context: parts.context,
    at,
    key,
    address: key === undefined ? request.ip : undefined,
    get signal() {
      if (gone === undefined) {
        const made = new CallController();
        gone = made;
        const leave = (): void => made.abort(GONE);
        if (reply.raw.destroyed) leave();
        else reply.raw.on('close', leave);
      }
      return gone;
    },
  };
}

function sendOne(
  parts: GatewayParts,
  request: RpcExchange,
  reply: RpcReply,
  call: RpcCall,
  visit: RpcVisit,
): Soon<unknown> {
  const { id } = call;
  const failed = (error: unknown): unknown =>
    // Where the client is gone, nobody is there to be told, and nothing failed.
    id === undefined || reply.raw.destroyed
      ? reply.code(204).send()
      : refuse(parts, visit.at, request, reply, error, id);
  try {
    const answer = answerObserved(call, visit);
    const send = (given: RpcAnswer): unknown => {
      if (id === undefined) return reply.code(204).send();
      if (given.kind === 'result' && given.kept !== undefined) {
        const method = findMethod(visit.at, call.method) as RpcMethod;
        visit.at.known.note(request.body as Buffer, call, method, given.kept);
      }
      return sendAnswer(request, reply, id, given);
    };
    return answer instanceof Promise ? answer.then(send).catch(failed) : send(answer);
  } catch (error) {
    return failed(error);
  }
}

async function sendBatch(
  request: RpcExchange,
  reply: RpcReply,
  items: readonly RpcItem[],
  visit: RpcVisit,
): Promise<unknown> {
  const answers = await answerBatch(items, visit, request);
  if (answers === null) return reply.code(204).send();
  return reply.type('application/json').send(answers);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls and was not counted yet; the key is absent on an open network. */
    rpcCaller?: { key: KeyRow | undefined } | undefined;
  }
}

/** Requests that a call counts as; what is refused counts as one. */
function costOf(at: RpcSite, item: RpcItem): number {
  if ('problem' in item) return 1;
  return findMethod(at, item.call.method)?.cost ?? 1;
}

/** Counts what was refused before it was a call. */
function countRefusal({ metrics }: RpcSite, prefix: string, error: unknown): void {
  metrics?.refused(prefix, String(PROBLEM_REASONS[problemOfError(error).reason].code));
}
