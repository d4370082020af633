import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ExpressLane } from '../server/express-lane.js';
import type { RpcLane } from '../server/rpc-lane.js';
import type { Site } from './site.js';

/**
 * The networks of one state of the networks file, with the routes that they have. A changed file makes the next one,
 * behind the same server: requests that are under way end on the one that they came to.
 */
export interface Lineup {
  readonly app: FastifyInstance;
  readonly sites: readonly Site[];
  /** Answers a request of the server. */
  readonly answer: RequestListener;
  /** Nothing new comes; what it holds is let go when all that came is answered. */
  retire(): void;
}

/** Makes it of its routes; `letGo` is called once, after `retire`. */
export function createLineup(parts: {
  app: FastifyInstance;
  router: RequestListener;
  express: ExpressLane;
  /** Takes what may have to wait for somebody. */
  rpcLane: RpcLane;
  sites: readonly Site[];
  letGo: () => void;
}): Lineup {
  const { app, router, express, rpcLane, sites } = parts;
  let underWay = 0;
  let retired = false;
  const left = (): void => {
    underWay -= 1;
    if (retired && underWay === 0) parts.letGo();
  };
  return {
    app,
    sites,
    answer(request: IncomingMessage, response: ServerResponse) {
      // What takes the express lane is answered before this returns.
      if (express(request, response)) return;
      underWay += 1;
      if (rpcLane(request, response, left)) return;
      response.on('close', left);
      router(request, response);
    },
    retire() {
      if (retired) return;
      retired = true;
      if (underWay === 0) parts.letGo();
    },
  };
}
