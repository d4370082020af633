/**
 * A program: `node bare-proxy.js <upstream> <workers>` passes requests on with only node:http and undici, without keys, limits,
 * methods or failures: the best case of a proxy in Node. Prints its address.
 */
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { listenInWorkers } from './listen-in-workers.js';

const pool = new Pool(process.argv[2] as string, { connections: 1_000, headersTimeout: 0, bodyTimeout: 0 });
const headers = { 'content-type': 'application/json' };

const server = createServer((request, response) => {
  const body: Buffer[] = [];
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.on('end', () => {
    const pieces: Buffer[] = [];
    pool.dispatch(
      {
        path: '/',
        method: 'POST',
        headers,
        body: body.length === 1 ? (body[0] as Buffer) : Buffer.concat(body),
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => void pieces.push(chunk),
        onResponseEnd: () => {
          const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
          response.writeHead(200, ['content-type', 'application/json', 'content-length', String(length)]);
          if (pieces.length === 1) response.end((pieces[0] as Buffer).toString('latin1'), 'latin1');
          else {
            response.cork();
            for (const piece of pieces) response.write(piece);
            response.end();
          }
        },
        onResponseError: () => response.destroy(),
      },
    );
  });
});
listenInWorkers(server, Number(process.argv[3]), (port) => `http://127.0.0.1:${port}`);
