import type { Route } from '../http/router.js';

const schema = {
  summary: 'Whether the process lives',
  tags: ['operation'],
  response: {
    200: {
      description: 'It does.',
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['ok'] } },
    },
  },
} as const;

/** `GET /healthz`: asks nothing of anything, so that a restart is never ordered because Postgres is away. */
export const healthzRoute: Route = {
  method: 'GET',
  path: '/healthz',
  name: 'healthz',
  schema,
  forOperators: true,
  answer: (exchange) => exchange.sendJson({ status: 'ok' }),
};
