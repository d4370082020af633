/**
 * A program: a server of node:http with the gateway's settings. One route does nothing; another reads the body of a
 * JSON-RPC call and returns the same answer to all. `node empty-server.js <workers>`; prints its port.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { listenInWorkers } from './listen-in-workers.js';

const EMPTY = '{"status":"ok"}';
const RESULT = '{"jsonrpc":"2.0","id":1,"result":"0xfffffff"}';

const server = createServer({ maxHeaderSize: 16_384, keepAliveTimeout: 72_000 }, (request, response) => {
  const answer = (body: string): void => {
    const type = ['content-type', 'application/json', 'content-length', String(body.length)];
    response.writeHead(200, type).end(body, 'latin1');
  };
  if (request.method === 'POST') readBody(request, () => answer(RESULT));
  else answer(EMPTY);
});

function readBody(request: IncomingMessage, read: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => read(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
}

listenInWorkers(server, Number(process.argv[2]));
