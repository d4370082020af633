import { connect } from 'node:net';
import type { MisbehaviourReport } from './misbehaviour-report.js';

/** Connections that are held: a request is begun and not ended, or its answer is not read. */
export interface Hold {
  kind: 'hold';
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent with POST; each `{n}` is replaced by the number of the connection. Absent: GET. */
  body?: string;
  /** Half of a body of so many bytes is sent, in steps of 64 KiB, in the place of `body`. */
  getHalf?: number;
  connections: number;
}

const STEP = Buffer.alloc(65_536, ' ');
const STEP_MS = 50;
/** A connection that was closed is opened again after this. */
const AGAIN_MS = 500;

/** Opens the connections, and opens again what is closed. It never ends by itself. */
export function hold(request: Hold, report: MisbehaviourReport): void {
  const { hostname, port, host, pathname, search } = new URL(request.url);
  const open = (): void => {
    report.sent += 1;
    const body = request.body?.replaceAll('{n}', report.sent.toString(16));
    const length = request.getHalf ?? (body === undefined ? undefined : Buffer.byteLength(body));
    const head = Object.entries({
      host,
      ...(length === undefined ? {} : { 'content-type': 'application/json', 'content-length': length }),
      ...request.headers,
    });
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `${length === undefined ? 'GET' : 'POST'} ${pathname}${search} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`,
    );
    let timer: NodeJS.Timeout | undefined;
    if (request.getHalf !== undefined) {
      let left = request.getHalf / 2;
      timer = setInterval(() => {
        if (left <= 0) clearInterval(timer);
        else if (socket.writableLength === 0) {
          socket.write(STEP);
          left -= STEP.length;
        }
      }, STEP_MS);
    }
    let status = 'closed';
    socket.once('data', (chunk) => {
      status = chunk.toString('latin1', 9, 12);
      report.statuses[status] = (report.statuses[status] ?? 0) + 1;
      // The rest stays where it is.
      if (status === '200') socket.pause();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(timer);
      if (status === 'closed') report.statuses.closed = (report.statuses.closed ?? 0) + 1;
      setTimeout(open, AGAIN_MS);
    });
  };
  for (let connection = 0; connection < request.connections; connection++) open();
}
