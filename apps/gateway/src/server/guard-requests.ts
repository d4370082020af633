import type { FastifyInstance } from 'fastify';
import { Problem } from '../http/problem.js';
import type { GatewayParts } from '../routes/gateway-parts.js';
import { createAllowedMethods } from './allowed-methods.js';
import { answerPreflight, isForPages, isPreflight, openToPages } from './cors.js';
import { noRoute } from './no-route.js';
import type { RecordVisit } from './record-visit.js';
import { sayRateLeft } from './say-rate-left.js';
import { beginVisit, type Visit } from './visit.js';

/** Characters of path and query. */
const MAX_URL = 2_048;

/**
 * What every request passes first: it is noted for the log and the metrics, and refused where the gateway drains,
 * no route takes it, its address is too long or it carries a body that nobody asked for. Must come before all routes.
 */
export function guardRequests(app: FastifyInstance, parts: GatewayParts, record: RecordVisit): void {
  const allowed = createAllowedMethods();
  app.addHook('onRoute', (route) => allowed.add(route));
  app.decorateRequest('visit', null as unknown as Visit);
  sayRateLeft(app, parts.admission);
  const { tracing } = parts.context;
  app.addHook('onRequest', (request, reply, done) => {
    const visit = beginVisit(request);
    request.visit = visit;
    if (tracing !== undefined) {
      visit.span = tracing.request(request.method, {
        traceparent: request.headers.traceparent as string | undefined,
        facts: { 'http.request.method': request.method, 'packhouse.request_id': request.id },
      });
    }
    reply.raw.on('close', () => {
      visit.bytes = Number(reply.getHeader('content-length') ?? visit.bytes);
      record(visit, reply.raw, () => request.id);
    });
    const forPages = request.headers.origin !== undefined && isForPages(request.routeOptions.url ?? '');
    if (forPages) visit.allowOrigin = openToPages(reply);
    const { method, url, headers } = request.raw as {
      method: string;
      url: string;
      headers: typeof request.headers;
    };
    const bodied = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    const refuse = (problem: Problem): void => {
      // What is left of a refused body is not worth reading.
      if (bodied) reply.header('connection', 'close');
      done(problem);
    };
    if (parts.draining() && !request.routeOptions.config.whileDraining) {
      reply.header('connection', 'close');
      refuse(draining());
    } else if (url.length > MAX_URL) {
      refuse(new Problem('uri-too-long', { detail: `An address has ${MAX_URL} characters at most.` }));
    } else if (url === '*') {
      refuse(new Problem('request-malformed', { detail: 'An address begins with a slash.' }));
    } else if (request.is404) {
      const path = url.split('?', 1)[0] as string;
      const methods = isPreflight(method, headers) && isForPages(path) ? allowed.at(path, headers.host) : [];
      if (methods.length > 0) {
        answerPreflight(request, reply, { ...parts, methods }).catch(done);
        return;
      }
      refuse(noRoute({ method, path, host: headers.host }, { sites: parts.sites, allowed }));
    } else if (bodied && (method === 'GET' || method === 'HEAD') && headers['content-length'] !== '0') {
      refuse(new Problem('request-malformed', { detail: `A ${method} request carries no body.` }));
    } else {
      done();
    }
  });
}

function draining(): Problem {
  return new Problem('draining', {
    detail: 'The gateway is shutting down; try again in 1 second, on a new connection.',
    members: { retryAfter: 1, retryAfterMs: 1_000 },
    headers: { 'retry-after': '1' },
  });
}
