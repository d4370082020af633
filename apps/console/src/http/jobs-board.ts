import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { ControllerHandlerReturnType } from '@bull-board/api/typings/app';
import { FastifyAdapter } from '@bull-board/fastify';
import type { BoardQueues } from '@packhouse/queue';
import { type Context, describeError, isPackhouseError, PackhouseError, redact } from '@packhouse/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.js';
import { CSP } from './headers.js';
import { toProblem, toUnknownPage } from './problem.js';

const PATH = '/jobs';
/** Jobs in one response, with their payloads. */
const MAX_JOBS = 100;
/** The board's page names its own folder as base. The font that it asks another host for is not fetched. */
const BOARD_CSP = CSP.replace("base-uri 'none'", "base-uri 'self'");

interface BoardParts {
  context: Context;
  /** Opens the queues for reading; called at the first look at them, and again after a failure. */
  openJobs: () => Promise<BoardQueues>;
}

/**
 * Mounts bull-board at /jobs, for viewers: the jobs of all queues with their payloads, which hold networks, kinds,
 * block numbers and owners; keys of nodes are removed. It changes nothing: no request but GET (and HEAD) is answered.
 */
export async function addJobsBoard(
  app: FastifyInstance,
  { context, openJobs }: BoardParts,
  access: Access,
): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(PATH);
  const board = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Packhouse jobs',
        hideDocsLink: true,
        locale: { lng: 'en' },
        miscLinks: [{ text: 'Console', url: '/#/workers' }],
      },
    },
  });
  adapter.setErrorHandler(
    (error) => toProblem(toKnownError(error), context.logger) as ControllerHandlerReturnType,
  );

  let opened: Promise<BoardQueues> | undefined;
  const open = (): Promise<BoardQueues> => {
    opened ??= openJobs().then(
      (found) => {
        const shown = [...found.queues].map(
          ([displayName, queue]) => new BullMQAdapter(queue, { displayName, readOnlyMode: true }),
        );
        board.setQueues(shown);
        return found;
      },
      (error: unknown) => {
        opened = undefined;
        throw error;
      },
    );
    return opened;
  };

  await app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        reply.header('content-security-policy', BOARD_CSP);
        await access.require(request, 'viewer');
        if (request.method !== 'GET' && request.method !== 'HEAD') throw toUnknownPage(request);
        if (!isApi(request)) return;
        reply.header('cache-control', 'no-store');
        const query = request.query as { jobsPerPage?: unknown };
        const { jobsPerPage = 1 } = query;
        if (!(Number(jobsPerPage) <= MAX_JOBS)) query.jobsPerPage = String(MAX_JOBS);
        await open();
      });
      // Reasons of failed jobs may have URLs of nodes with keys.
      scope.addHook('onSend', async (request, _, body) =>
        typeof body === 'string' && isApi(request) ? redact(body) : body,
      );
      scope.addHook('onClose', async () => {
        await opened?.then(({ close }) => close()).catch(() => undefined);
      });
      scope.all('/*', async (request) => {
        throw toUnknownPage(request);
      });
      await scope.register(adapter.registerPlugin());
    },
    { prefix: PATH },
  );
}

/** By its route, as an address can be written in many ways. */
const isApi = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url?.startsWith(`${PATH}/api/`) === true;

/** BullMQ throws errors of many forms while its server is unavailable. */
function toKnownError(error: Error & { statusCode?: number }): Error {
  if (isPackhouseError(error) || error.statusCode !== undefined) return error;
  return new PackhouseError({
    code: 'QUEUE_UNAVAILABLE',
    message: `Cannot read the jobs: ${redact(describeError(error))}.`,
    hint: 'Start Redis, or Postgres without Redis; the board recovers automatically.',
    cause: error,
  });
}
