import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../http/problem.js';
import type { ProblemReason } from '../http/problem-reasons.js';

const REASONS: Record<string, ProblemReason> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

/** Answers bytes that are no HTTP request, or one that is too large or too slow, and hangs up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
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
