import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PackhouseError } from '@packhouse/runtime';
import { type PlainConnections, servePlain } from '../plain-http/plain-connection.js';
import { Problem, type ProblemReason } from './problem.js';

/** How often idle connections are closed while the server closes, in milliseconds. */
const SWEEP_MS = 50;
/** How often requests that are too slow are looked for: they are cut soon after their time. */
const CHECK_MS = 5_000;

/** A server and its connections. */
interface HttpServer {
  readonly server: Server;
  readonly plain: PlainConnections;
}

/** Creates a server that does not listen yet. Connections beyond `maxConnections` are refused. */
export function createHttpServer(answer: RequestListener, maxConnections: number): HttpServer {
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      keepAliveTimeout: 72_000,
      // From the first byte, or from the connection: for the headers, and for all of the request.
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: CHECK_MS,
    },
    answer,
  );
  // A connection without traffic in either direction for this long is cut.
  server.setTimeout(120_000);
  server.maxConnections = maxConnections;
  server.on('clientError', answerClientError);
  const refuseSlow = (socket: Socket): void => answerClientError({ code: REQUEST_TIMEOUT }, socket);
  return { server, plain: servePlain(server, { refuseSlow, checkMs: CHECK_MS }) };
}

/** Resolves with the port once connections are accepted. Throws PORT_IN_USE, SETTINGS_INVALID. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: Error): void => reject(listenFailure(error, port, host));
    server.once('error', failed);
    server.listen({ port, host }, () => {
      server.off('error', failed);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** Accepts no more connections, and resolves when all are closed; aborting `cut` cuts them off. */
export async function close({ server, plain }: HttpServer, cut?: AbortSignal): Promise<void> {
  const cutOff = (): void => {
    server.closeAllConnections();
    plain.closeAll();
  };
  cut?.addEventListener('abort', cutOff, { once: true });
  if (cut?.aborted === true) cutOff();
  // Otherwise a connection that was in use when the server closed would stay open for its keep-alive time.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    plain.closeIdle();
  }, SWEEP_MS);
  const closed = new Promise((resolve) => server.close(resolve));
  plain.closeIdle();
  await closed;
  clearInterval(sweep);
  cut?.removeEventListener('abort', cutOff);
}

/** The address that a server listens on, as a browser on this machine writes it. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const REASONS: Record<string, ProblemReason> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  [REQUEST_TIMEOUT]: 'request-timeout',
};

/** Answers bytes that are not HTTP, or a request that is too large or too slow, and closes the connection. */
function answerClientError(error: Pick<NodeJS.ErrnoException, 'code'>, stream: unknown): void {
  const socket = stream as Socket;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = new Problem(REASONS[error.code ?? ''] ?? 'request-malformed', {
    detail: 'The request could not be read as HTTP.',
  });
  const body = JSON.stringify(problem.toBody(randomUUID()));
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
      'content-type: application/problem+json\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}

/** Errors of HOST and PORT. */
const SETTINGS_CODES = new Set(['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND']);

/** Why the server cannot listen, as one sentence. */
function listenFailure(error: NodeJS.ErrnoException, port: number, host: string): unknown {
  const facts = { data: { port, host }, cause: error };
  if (error.code === 'EADDRINUSE') {
    return new PackhouseError({
      code: 'PORT_IN_USE',
      message: `Port ${port} on ${host} is in use by another program.`,
      hint: 'Stop that program, or set another PORT.',
      ...facts,
    });
  }
  if (!SETTINGS_CODES.has(error.code ?? '')) return error;
  return new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `The gateway cannot listen on ${host}, port ${port}: ${error.message}.`,
    hint: 'Set HOST to an address of this machine and PORT to a port that this user may open.',
    ...facts,
  });
}
