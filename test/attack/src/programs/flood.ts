import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { type BodyName, toBody } from './bodies.js';
import type { MisbehaviourReport } from './misbehaviour-report.js';

/** Requests one after the other on each of some connections, answers read as they come. */
export interface Flood {
  kind: 'flood';
  /** `{random}` becomes 40 random characters, `{count}` the number of the request. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** A body by name, or JSON whose `{n}` and `{padded}` (eight digits) are the request's number. Absent: GET. */
  body?: { name: BodyName } | { text: string };
  connections: number;
  /** Time between two requests of a connection; 0: the next one as soon as the last is answered. Otherwise none waits for another. */
  everyMs: number;
}

/** Begins to send. It never ends by itself. */
export function flood(flooding: Flood, report: MisbehaviourReport): void {
  const agent = new Agent({ keepAlive: true });
  const named =
    flooding.body !== undefined && 'name' in flooding.body ? toBody(flooding.body.name) : undefined;
  const send = (next: () => void): void => {
    report.sent += 1;
    const number = report.sent;
    const { body } = flooding;
    const bytes = body !== undefined && 'text' in body ? filled(body.text, number) : named;
    const end = once((status) => {
      report.statuses[status] = (report.statuses[status] ?? 0) + 1;
      // A connection that was refused is not dialled again at once.
      if (status === 'closed') setTimeout(next, 20);
      else next();
    });
    const url = flooding.url
      .replaceAll('{random}', randomBytes(20).toString('hex'))
      .replaceAll('{count}', String(number));
    const asked = request(url, {
      agent,
      method: bytes === undefined ? 'GET' : 'POST',
      headers: {
        ...(bytes === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': bytes.length }),
        ...flooding.headers,
      },
    });
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => {
        report.results += text.split('"result"').length - 1;
        report.errors += text.split('"error"').length - 1;
        end(String(response.statusCode));
      });
    });
    asked.on('error', () => end('closed'));
    asked.end(bytes);
  };
  for (let connection = 0; connection < flooding.connections; connection++) {
    if (flooding.everyMs > 0) setInterval(send, flooding.everyMs, () => undefined);
    else {
      const again = (): void => send(again);
      again();
    }
  }
}

function filled(text: string, number: number): Buffer {
  const hex = number.toString(16);
  return Buffer.from(text.replaceAll('{n}', hex).replaceAll('{padded}', hex.padStart(8, '0')));
}

function once(told: (status: string) => void): (status: string) => void {
  let done = false;
  return (status) => {
    if (done) return;
    done = true;
    told(status);
  };
}
