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

/** Pages that may listen: of a console, of an operator, and of a session, as browsers open six connections at most. */
const MAX_LISTENERS = 200;
const MAX_OF_OPERATOR = 20;
const MAX_OF_SESSION = 4;

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
  const open = createOpenPages();

  // The answer to a HEAD would never end.
  app.get('/api/events', { exposeHeadRoute: false }, async (request, reply) => {
    const { name } = await access.require(request, 'viewer');
    const requested = new Set(readInput(input, request.query).topics);
    const stream = new PassThrough();
    stream.on('close', open.enter(`session ${access.session(request)}`, `operator ${name}`));
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

/** Counts the pages that listen. */
function createOpenPages() {
  const counts = new Map<string, number>();
  const refuse = (most: number, whose: string): never => {
    throw new PackhouseError({
      code: 'LISTENERS_FULL',
      message: `The limit of ${most} listening pages of ${whose} is reached.`,
      hint: 'Close one, or poll the API instead.',
      data: { retryAfterMs: 10_000 },
    });
  };
  const count = (name: string, by = 0): number => {
    const pages = (counts.get(name) ?? 0) + by;
    if (pages === 0) counts.delete(name);
    else counts.set(name, pages);
    return pages;
  };
  return {
    /** Counts a page until the returned function is called. Throws LISTENERS_FULL. */
    enter(session: string, operator: string): () => void {
      if (count(session) >= MAX_OF_SESSION) refuse(MAX_OF_SESSION, 'one session');
      if (count(operator) >= MAX_OF_OPERATOR) refuse(MAX_OF_OPERATOR, 'one operator');
      if (count('all') >= MAX_LISTENERS) refuse(MAX_LISTENERS, 'this console');
      const names = ['all', session, operator];
      for (const name of names) count(name, 1);
      return () => {
        for (const name of names) count(name, -1);
      };
    },
  };
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
