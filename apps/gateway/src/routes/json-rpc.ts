import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { KeyRow } from '@packhouse/database';
import type { FastifyInstance } from 'fastify';
import { answerBatch } from '../rpc/answer-batch.js';
import { answerCall, findMethod, methodOf } from '../rpc/answer-call.js';
import { AFTER_RESULT, beforeResult, nodeErrorText } from '../rpc/answer-text.js';
import type { RpcAnswer, RpcSite, RpcVisit } from '../rpc/method.js';
import { type RpcCall, type RpcItem, readRequest } from '../rpc/read-request.js';
import { type Soon, whenHere } from '../server/soon.js';
import type { Visit } from '../server/visit.js';
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
          void sendRefusal(parts, request as RpcExchange, reply as unknown as RpcReply, error, at),
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
  readonly rpcKey?: KeyRow | undefined;
}

/** What of a reply this route uses. */
export interface RpcReply {
  readonly raw: ServerResponse;
  code(status: number): RpcReply;
  header(name: string, value: string | number): RpcReply;
  type(contentType: string): RpcReply;
  send(body?: Buffer | Readable): unknown;
}

/** Answers a request whose key is known; at once where nobody has to be asked. Throws problems of the whole request. */
export function answerJsonRpc(
  parts: GatewayParts,
  at: RpcSite,
  request: RpcExchange,
  reply: RpcReply,
): Soon<unknown> {
  const { batch, items } = readRequest(request.body as Buffer | undefined);
  const key = request.rpcKey;
  let cost = 0;
  for (const item of items) cost += costOf(at, item);
  const charged: Soon<unknown> =
    key === undefined
      ? parts.openDoor.charge(request.ip, cost, reply)
      : parts.admission.charge(key, cost, reply);
  return whenHere(charged, () => {
    const visit = visitOf(parts, at, key, reply);
    if (batch) return sendBatch(parts, request, reply, items, visit);
    const item = items[0] as RpcItem;
    if ('problem' in item) return sendRefusal(parts, request, reply, item.problem, at, item.id);
    return sendOne(parts, request, reply, item.call, visit);
  });
}

/** The signal is made for those who ask for it: what is answered from memory does without. */
function visitOf(parts: GatewayParts, at: RpcSite, key: KeyRow | undefined, reply: RpcReply): RpcVisit {
  let gone: AbortController | undefined;
  return {
    context: parts.context,
    at,
    key,
    get signal() {
      if (gone === undefined) {
        const made = new AbortController();
        gone = made;
        const leave = (): void => made.abort(new Error('the client went away'));
        if (reply.raw.destroyed) leave();
        else reply.raw.once('close', leave);
      }
      return gone.signal;
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
  const refuse = (error: unknown): unknown =>
    id === undefined ? reply.code(204).send() : sendRefusal(parts, request, reply, error, visit.at, id);
  try {
    const answer = answerCall(methodOf(visit.at, call.method), call, visit);
    const send = (given: RpcAnswer): unknown =>
      id === undefined ? reply.code(204).send() : sendAnswer(reply, id, given);
    return answer instanceof Promise ? answer.then(send).catch(refuse) : send(answer);
  } catch (error) {
    return refuse(error);
  }
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

function sendAnswer(reply: RpcReply, id: string, answer: RpcAnswer): unknown {
  reply.type('application/json').header('cache-control', 'no-store');
  if (answer.kind === 'error') return reply.send(nodeErrorText(id, answer.error));
  const { bytes, rest } = answer.body;
  const head = beforeResult(id);
  if (rest === null) return reply.send(Buffer.concat([head, bytes, AFTER_RESULT]));
  return reply.send(Readable.from(streamed(head, bytes, rest), { objectMode: false }));
}

async function* streamed(head: Buffer, bytes: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield bytes;
  yield* rest;
  yield AFTER_RESULT;
}
