/**
 * A program: `node slow-readers.js '<SlowReaders as JSON>'` asks on many connections at once, takes the beginning of
 * each answer, reads nothing for a while, then reads all to the end, and prints a SlowReport as JSON.
 */
import { connect } from 'node:net';

/** What is asked. */
export interface SlowReaders {
  url: string;
  path: string;
  /** Each `{n}` is replaced by the number of the connection. */
  body: string;
  connections: number;
  /** How long nobody reads on. */
  pauseSeconds: number;
}

/** The result of the measurement. */
export interface SlowReport {
  /** Answers with 200, read to the end. */
  answered: number;
  /** Refusals with 503. */
  refused: number;
  /** Anything else. */
  errors: number;
  bytes: number;
}

const wanted = JSON.parse(process.argv[2] ?? '{}') as SlowReaders;
const { hostname, port, host } = new URL(wanted.url);
const report: SlowReport = { answered: 0, refused: 0, errors: 0, bytes: 0 };
const startedAt = performance.now();

function ask(number: number): Promise<void> {
  const body = wanted.body.replaceAll('{n}', String(number));
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `POST ${wanted.path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let status = '';
    socket.on('data', (chunk) => {
      report.bytes += chunk.length;
      if (status !== '') return;
      status = chunk.toString('latin1', 9, 12);
      const left = wanted.pauseSeconds * 1_000 - (performance.now() - startedAt);
      if (left <= 0) return;
      socket.pause();
      setTimeout(() => socket.resume(), left);
    });
    socket.once('error', () => {
      status = 'error';
    });
    socket.once('close', () => {
      if (status === '200') report.answered += 1;
      else if (status === '503') report.refused += 1;
      else report.errors += 1;
      resolve();
    });
  });
}

await Promise.all(Array.from({ length: wanted.connections }, (_, number) => ask(number)));
process.stdout.write(`${JSON.stringify(report)}\n`);
