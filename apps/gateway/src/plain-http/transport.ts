import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** What an exchange needs of a request: node:http's IncomingMessage and PlainRequest both are one. */
export interface HttpRequest {
  readonly method?: string | undefined;
  /** Path and query as they were sent. */
  readonly url?: string | undefined;
  readonly httpVersion: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  /** All of the body arrived. */
  readonly complete: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

/** What an exchange needs of a response: node:http's ServerResponse and PlainResponse both are one. */
export interface HttpResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  /** `close` was emitted. */
  readonly closed: boolean;
  /** All of the answer was handed to the connection. */
  readonly writableFinished: boolean;
  /** `headers`: name, value, name, value, … */
  writeHead(status: number, headers: string[]): unknown;
  /** What is written in one turn is sent together. False: wait for `drain`. */
  write(piece: Buffer | string, encoding: BufferEncoding): boolean;
  write(piece: Buffer | string): boolean;
  end(piece: Buffer | string, encoding: BufferEncoding): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
  once(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
  off(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
}
