/**
 * A program: `node send-requests.js '<LoadRequest as JSON>'` sends requests over plain sockets, one at a time on
 * each, and prints a LoadReport as JSON. For machines without wrk; it costs about as much CPU a request as a server.
 */
import { connect } from 'node:net';
import type { LoadReport, LoadRequest } from './load.js';

const request = JSON.parse(process.argv[2] ?? '{}') as LoadRequest;
const { hostname, port, host } = new URL(request.url);
const head = Object.entries({ host, ...request.headers })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const body = request.body?.split('{n}');
const paths = request.paths.map((text) => text.split('{n}'));
const END = Buffer.from('\r\n\r\n');

let [bytes, errors] = [0, 0];
const latencies: number[] = [];
const startedAt = performance.now();
const endAt = startedAt + request.seconds * 1000;

function nextRequest(): string {
  const parts = paths[Math.floor(Math.random() * paths.length)] as string[];
  const number = String(Math.floor(Math.random() * request.below));
  const target = parts.join(number);
  if (body === undefined) return `GET ${target} HTTP/1.1\r\n${head}\r\n`;
  const text = body.join(number);
  return `POST ${target} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

/** Sends one request after the other on one connection until the time is over. */
function useConnection(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let sentAt = 0;
    let headers: Buffer = Buffer.alloc(0);
    /** Bytes of the body that are still to come; -1 while the headers come. */
    let left = -1;
    const pause = (): void => {
      if (request.pauseMs === undefined) send();
      else setTimeout(send, request.pauseMs);
    };
    const send = (): void => {
      sentAt = performance.now();
      if (sentAt >= endAt) {
        socket.destroy();
        resolve();
        return;
      }
      headers = Buffer.alloc(0);
      left = -1;
      socket.write(nextRequest());
    };
    socket.once('connect', pause);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (left >= 0) {
        left -= chunk.length;
      } else {
        headers = headers.length === 0 ? chunk : Buffer.concat([headers, chunk]);
        const end = headers.indexOf(END);
        if (end === -1) return;
        const text = headers.toString('latin1', 0, end);
        const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
        if (!/^HTTP\/1.1 (?:200|302)/.test(text) || length === undefined) errors += 1;
        left = Number(length ?? 0) - (headers.length - end - END.length);
      }
      if (left > 0) return;
      latencies.push(performance.now() - sentAt);
      pause();
    });
    socket.once('error', () => {
      errors += 1;
      resolve();
    });
    socket.once('close', () => resolve());
  });
}

await Promise.all(Array.from({ length: request.connections }, useConnection));
const seconds = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
const report: LoadReport = {
  requestsPerSecond: latencies.length / seconds,
  bytesPerSecond: bytes / seconds,
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  errors,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
