import { PassThrough } from 'node:stream';
import {
  listAlarms,
  listNodes,
  listWorkers,
  type Operation,
  type OperationParts,
  readInput,
  readOverview,
} from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Access } from '../access/access.js';
import { describeProblem } from '../http/problem.js';
import { createFeed, type Topic } from './feed.js';

/** Pages that may listen. */
const MAX_LISTENERS = 200;

/**
 * Serves `/api/events?topics=alarms,workers`: server-sent events of what these pages show, as it changes. The stream ends
 * with the session, and when the console does.
 */
export function addEventRoute(
  app: FastifyInstance,
  parts: Omit<OperationParts, 'actor'>,
  access: Access,
): void {
  const topics = getTopics({ ...parts, actor: 'console' });
  const names = topics.map(({ name }) => name);
  const input = z.object({
    topics: z.string().transform((text, context) => {
      const given = text.split(',');
      if (given.every((name) => names.includes(name))) return given;
      context.addIssue(`expected some of ${names.join(', ')}, separated by commas`);
      return z.NEVER;
    }),
  });
  const feed = createFeed({ context: parts.context, topics, describe: describeProblem });
  app.addHook('preClose', () => feed.close());

  // The answer to a HEAD would never end.
  app.get('/api/events', { exposeHeadRoute: false }, async (request, reply) => {
    await access.require(request, 'viewer');
    const requested = new Set(readInput(input, request.query).topics);
    if (feed.size >= MAX_LISTENERS) {
      throw new PackhouseError({
        code: 'LISTENERS_FULL',
        message: `The limit of ${MAX_LISTENERS} listening pages is reached.`,
        hint: 'Poll the API instead.',
      });
    }
    const stream = new PassThrough();
    feed.add({
      stream,
      topics: requested,
      mayListen: async () => {
        const holder = await access.holder(request);
        return holder !== null && holder.role !== 'owner';
      },
    });
    reply.type('text/event-stream; charset=utf-8');
    // nginx buffers otherwise.
    reply.header('x-accel-buffering', 'no');
    return reply.send(stream);
  });
}

/** The reads that pages repeat, with what names their rows. */
function getTopics(parts: OperationParts): readonly Topic[] {
  const topic = <I extends z.ZodObject, T extends object>(
    { input, name, run }: Operation<I, readonly T[]>,
    keyOf: (row: T) => string,
  ): Topic => ({
    name,
    read: () => run(parts, readInput(input, {})),
    keyOf: keyOf as (row: object) => string,
  });
  return [
    topic(readOverview, ({ network }) => network),
    topic(listAlarms, ({ network, name, raisedAt }) => `${network} ${name} ${raisedAt.getTime()}`),
    topic(listWorkers, ({ id }) => id),
    topic(listNodes, ({ network, upstream }) => JSON.stringify([network, upstream])),
  ];
}
