import { createServer as createHttpServer, METHODS, type RequestListener } from 'node:http';
import type { Context } from '@packhouse/runtime';
import { type FastifyInstance, fastify } from 'fastify';
import { rpcAddress } from '../rpc/rpc-address.js';
import { sendRefusal } from '../rpc/send-refusal.js';
import { hostConstraint } from '../sites/host-constraint.js';
import type { Site } from '../sites/site.js';
import { answerClientError } from './client-error.js';
import { sendProblem } from './send-problem.js';

/** Bodies of requests, in bytes. */
const BODY_LIMIT = 5 * 1_024 * 1_024;

/** Makes the server of a gateway without its routes, and what hands a request to them. It does not listen yet. */
export function createServer(parts: {
  context: Context;
  nextRequestId: () => string;
  sites: readonly Site[];
  /** What the server does with a request; absent: it takes none. */
  answer: RequestListener | undefined;
  maxConnections: number;
  trustProxy: number | string[] | undefined;
}): { app: FastifyInstance; router: RequestListener } {
  const { context, trustProxy: trusted } = parts;
  let router: RequestListener = () => undefined;
  const app: FastifyInstance = fastify({
    // Nothing but this app's own recorder writes of requests: the key is in the path.
    logger: false,
    bodyLimit: BODY_LIMIT,
    trustProxy: typeof trusted === 'number' ? (_, hop) => hop < trusted : (trusted ?? false),
    return503OnClosing: false,
    serverFactory: (route) => {
      router = route as RequestListener;
      const server = createHttpServer(
        // Requests that drip in are looked for every few seconds, so that they are cut soon after their time.
        {
          ...{ maxHeaderSize: 16_384, keepAliveTimeout: 72_000 },
          ...{ requestTimeout: 30_000, connectionsCheckingInterval: 5_000 },
        },
        parts.answer,
      );
      // A connection on which nothing moves for so long, in either direction, is cut.
      server.setTimeout(120_000);
      server.maxConnections = parts.maxConnections;
      return server;
    },
    genReqId: parts.nextRequestId,
    routerOptions: { maxParamLength: 4_096, constraints: { hostName: hostConstraint } },
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply, context.logger);
    },
    clientErrorHandler: answerClientError,
  });
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method);
  }
  // Bodies are read by the routes themselves: an id is sent back as it was written.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  // Schemas of parameters are for the document; the routes read them themselves, with sentences for people.
  app.setValidatorCompiler(() => () => true);
  app.setErrorHandler((error, request, reply) => {
    const { method, url, headers } = request.raw;
    const path = (url ?? '').split('?', 1)[0] as string;
    // No route took it; whoever meant JSON-RPC is answered in JSON-RPC.
    const meant = request.is404
      ? rpcAddress({ method: method ?? '', path, host: headers.host }, parts.sites)
      : null;
    if (meant === null) sendProblem(error, request, reply, context.logger);
    else {
      const httpErrors = meant.site?.network.rpc.httpErrors ?? 'status';
      sendRefusal(error, request, reply, { logger: context.logger, httpErrors });
    }
  });
  return { app, router };
}
