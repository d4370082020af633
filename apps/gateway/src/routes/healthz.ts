import type { FastifyInstance } from 'fastify';

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
export function healthzRoute(app: FastifyInstance): void {
  app.get('/healthz', { schema }, (request, reply) => {
    request.visit.route = 'healthz';
    reply.send({ status: 'ok' });
  });
}
