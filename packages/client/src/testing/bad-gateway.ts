import { createServer, type Socket } from 'node:net';
import { createHttp, type Http, type Wait } from '../fetch/http.js';

/** What a connection gets for one request: bytes as they are, then the connection stays, ends or breaks. */
export interface Script {
  send: string;
  /** Default: it stays open for the next request. */
  after?: 'end' | 'reset';
}

/** A server that answers each request with the next script, byte by byte as it says; the last one is repeated. */
export interface BadGateway {
  url: string;
  /** The heads of the requests, in order. */
  heads: string[];
  close(): Promise<void>;
}

/** Starts a server; a proxy too, which sees CONNECT as one more request. */
export async function startBadGateway(...scripts: Script[]): Promise<BadGateway> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let text = '';
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        heads.push(text.slice(0, end));
        text = text.slice(end + 4);
        const { send, after } = scripts[Math.min(heads.length, scripts.length) - 1] as Script;
        socket.write(send, 'latin1', () => {
          if (after === 'reset') socket.resetAndDestroy();
          else if (after === 'end') socket.end();
        });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    heads,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer with its length. */
export function answer(status: string, body = '', ...headers: string[]): Script {
  const head = [`HTTP/1.1 ${status}`, `content-length: ${body.length}`, ...headers].join('\r\n');
  return { send: `${head}\r\n\r\n${body}` };
}

/** The key of the client. */
export const API_KEY = `ph_12345678_${'k'.repeat(43)}`;

/** A client whose waits take no time and are written down. */
export function impatientHttp(): { http: Http; waits: Wait[] } {
  const waits: Wait[] = [];
  const http = createHttp({
    apiKey: API_KEY,
    onWait: (wait) => waits.push(wait),
    sleep: async (_, signal) => signal?.throwIfAborted(),
  });
  return { http, waits };
}
