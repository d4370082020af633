import { existsSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import cookie from '@fastify/cookie';
import files from '@fastify/static';
import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import type { OperationParts } from '@packhouse/operations';
import type { BoardQueues } from '@packhouse/queue';
import { createOverview } from '@packhouse/report';
import type { Context } from '@packhouse/runtime';
import fastify, { type FastifyInstance } from 'fastify';
import { createAccess } from './access/access.js';
import type { OidcOptions } from './access/oidc-routes.js';
import { addSignInRoutes } from './access/sign-in-routes.js';
import { addEventRoute } from './events/event-route.js';
import { addFileRoute } from './http/file-route.js';
import { addHeaders, toPageCsp } from './http/headers.js';
import { addJobsBoard } from './http/jobs-board.js';
import { addOperationRoutes } from './http/operation-routes.js';
import { sendProblem, toUnknownPage } from './http/problem.js';

interface ConsoleParts extends Omit<OperationParts, 'actor'> {
  context: Context;
  database: Database;
  /** The object store; without it no file can be opened. */
  objectStore?: ObjectStore | undefined;
  /** Opens the queues for the board of jobs. */
  openJobs: () => Promise<BoardQueues>;
  /** The public URL. */
  url?: string | undefined;
  /** The provider that operators sign in at; absent: none. */
  oidc?: OidcOptions | undefined;
  /** Whether passwords sign in; default: they do. */
  passwords?: boolean | undefined;
  /** The address that it listens on. */
  host: string;
  /** The trusted proxies, as their number or their addresses; absent: none. */
  trustProxy?: number | string[] | undefined;
  /** The folder of the pages; default: where the build puts them. */
  pages?: string;
}

/** Bytes of a request body. */
const MAX_BODY = 65_536;
const PAGES = fileURLToPath(new URL('../dist/web/', import.meta.url));

/** Creates the console's server; it does not listen yet. */
export async function createConsole(parts: ConsoleParts): Promise<FastifyInstance> {
  const { context, database, host, pages = PAGES, trustProxy, url } = parts;
  const app = fastify({
    bodyLimit: MAX_BODY,
    logger: false,
    requestTimeout: 30_000,
    forceCloseConnections: true,
    trustProxy: typeof trustProxy === 'number' ? (_, hop) => hop < trustProxy : (trustProxy ?? false),
  });
  app.setErrorHandler((error, _, reply) => sendProblem(reply, error, context.logger));
  addHeaders(app, { url, host });
  await app.register(cookie);
  const seal = await database.operators.seal();
  const access = createAccess({ clock: context.clock, database, seal });
  addSignInRoutes(app, {
    access,
    context,
    database,
    seal,
    oidc: parts.oidc,
    passwords: parts.passwords ?? true,
    secure: url?.startsWith('https:') === true,
    url,
  });
  const overview = createOverview({ clock: context.clock, database, queue: parts.queue });
  addOperationRoutes(app, { ...parts, overview }, access);
  addFileRoute(app, parts, access);
  addEventRoute(app, { ...parts, overview }, access);
  // Before the pages: both serve files, and only the last may say how for all.
  await addJobsBoard(app, parts, access);
  const hasPages = existsSync(join(pages, 'index.html'));
  if (!hasPages) context.logger.error('the pages of the console are not built: run npm run build');
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_, reply) => {
    if (!hasPages) return reply.code(503).send('The pages are not built: run npm run build\n');
    if (await database.ping()) return 'ok\n';
    return reply.code(503).send('Postgres does not respond\n');
  });
  if (hasPages) {
    const csp = toPageCsp(readFileSync(join(pages, 'index.html'), 'utf8'));
    await app.register(files, {
      root: pages,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (reply, path) => setFileHeaders(reply, path, csp),
    });
  }
  app.setNotFoundHandler((request) => {
    throw toUnknownPage(request);
  });
  return app;
}

/** The names of assets change with their contents; the page itself is revalidated each time. */
function setFileHeaders(
  reply: { header(name: string, value: string): unknown },
  path: string,
  csp: string,
): void {
  const lasting = path.includes(`${sep}assets${sep}`);
  reply.header('cache-control', lasting ? 'max-age=31536000, immutable' : 'no-cache');
  if (!lasting) reply.header('content-security-policy', csp);
}
