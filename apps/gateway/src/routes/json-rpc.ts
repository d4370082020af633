import { Readable } from 'node:stream';
import type { KeyRow } from '@packhouse/database';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import { problemOfError } from '../http/problem-of-error.js';
import { answerCall, findMethod, methodOf } from '../rpc/answer-call.js';
import { AFTER_RESULT, beforeResult, nodeErrorText, refusalText } from '../rpc/answer-text.js';
import type { RpcAnswer, RpcSite, RpcVisit } from '../rpc/method.js';
import { type RpcItem, readRequest } from '../rpc/read-request.js';
import { constraintsOf } from '../sites/host-constraint.js';
import type { GatewayParts } from './gateway-parts.js';

/** Calls of one batch that are under way at a time. */
const BATCH_CONCURRENCY = 8;

/** `POST {base_url}<KEY>` of one network; `POST {base_url}` of an open one. */
export function jsonRpcRoute(app: FastifyInstance, parts: GatewayParts, at: RpcSite): void {
  const { site } = at;
  const { network } = site;
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown, id?: string): FastifyReply =>
    sendRefusal(parts, request, reply, error, at, id);
  const { open } = network.rpc;
  const paths = open ? [site.base.path, `${site.base.path}/`] : [`${site.base.path}/:key`];
  for (const path of paths) {
    app.post<{ Params: { key?: string } }>(
      path,
      {
        constraints: constraintsOf(site.base),
        config: { document: { path: open ? '/' : '/{key}', servedAt: 'baseUrl' } },
        errorHandler: (error, request, reply) => refuse(request, reply, error),
        // Before the body is read: strangers send nothing but a head.
        onRequest: async (request) => {
          request.visit.route = 'rpc';
          request.visit.network = network.id;
          request.rpcKey = open
            ? undefined
            : await parts.admission.identify(request.params.key, request.visit);
        },
      },
      async (request, reply) => {
        const { batch, items } = readRequest(request.body as Buffer | undefined);
        const key = request.rpcKey;
        const cost = items.reduce((sum, item) => sum + costOf(at, item), 0);
        if (key === undefined) await parts.openDoor.charge(request.ip, cost, reply);
        else await parts.admission.charge(key, cost, reply);
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort(new Error('the client went away')));
        const visit: RpcVisit = { context: parts.context, at, key, signal: gone.signal };
        if (batch) return sendBatch(parts, request, reply, items, visit);
        const item = items[0] as RpcItem;
        if ('problem' in item) return refuse(request, reply, item.problem, item.id);
        const { call } = item;
        try {
          const answer = await answerCall(methodOf(at, call.method), call, visit);
          return call.id === undefined ? reply.code(204).send() : sendAnswer(reply, call.id, answer);
        } catch (error) {
          return call.id === undefined ? reply.code(204).send() : refuse(request, reply, error, call.id);
        }
      },
    );
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose call it is; absent on an open network. */
    rpcKey?: KeyRow | undefined;
  }
}

/** Requests that a call counts as; what is refused counts as one. */
function costOf(at: RpcSite, item: RpcItem): number {
  if ('problem' in item) return 1;
  return findMethod(at, item.call.method)?.cost ?? 1;
}

function sendAnswer(reply: FastifyReply, id: string, answer: RpcAnswer): FastifyReply {
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

async function sendBatch(
  parts: GatewayParts,
  request: FastifyRequest,
  reply: FastifyReply,
  items: readonly RpcItem[],
  visit: RpcVisit,
): Promise<FastifyReply> {
  const texts = new Array<Buffer | null>(items.length).fill(null);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine < items.length; mine = next++) {
      texts[mine] = await textOf(parts, request, items[mine] as RpcItem, visit);
    }
  };
  await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, items.length) }, work));
  const answers = texts.filter((text) => text !== null);
  if (answers.length === 0) return reply.code(204).send();
  const pieces = answers.flatMap((text, at) => [Buffer.from(at === 0 ? '[' : ','), text]);
  return reply
    .type('application/json')
    .header('cache-control', 'no-store')
    .send(Buffer.concat([...pieces, Buffer.from(']')]));
}

async function textOf(
  parts: GatewayParts,
  request: FastifyRequest,
  item: RpcItem,
  visit: RpcVisit,
): Promise<Buffer | null> {
  if ('problem' in item) return refusalText(item.id, item.problem, request.id);
  const { call } = item;
  try {
    const answer = await answerCall(methodOf(visit.at, call.method), call, visit);
    if (call.id === undefined) return null;
    if (answer.kind === 'error') return nodeErrorText(call.id, answer.error);
    const pieces = [beforeResult(call.id), answer.body.bytes];
    for await (const piece of answer.body.rest ?? []) pieces.push(piece);
    return Buffer.concat([...pieces, AFTER_RESULT]);
  } catch (error) {
    const problem = problemOfError(error);
    if (problem.reason === 'internal') {
      parts.context.logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
    }
    return call.id === undefined ? null : refusalText(call.id, problem, request.id);
  }
}

/** Answers a refusal of the whole request in the envelope of JSON-RPC. */
function sendRefusal(
  parts: GatewayParts,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  at: RpcSite,
  id = 'null',
): FastifyReply {
  const problem = error instanceof Problem ? error : problemOfError(error);
  if (problem.reason === 'internal') {
    parts.context.logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
  }
  for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value);
  return reply
    .code(at.site.network.rpc.httpErrors === 'always200' ? 200 : problem.status)
    .header('cache-control', 'no-store')
    .header('x-request-id', request.id)
    .type('application/json')
    .send(refusalText(id, problem, request.id));
}
