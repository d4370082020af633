import { type IncomingMessage, ServerResponse } from 'node:http';
import { createLogger, createMetrics } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createContentCodings } from './content-coding.js';
import { Exchange } from './exchange.js';
import { createPacer } from './paced-pieces.js';
import { createRequestLog } from './request-log.js';

/** The level that a request is logged at. */
function getLevel(
  status: number,
  facts: Partial<Exchange>,
  logged?: Parameters<typeof createRequestLog>[1],
): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ name: 'test', level: 'trace', destination });
  const record = createRequestLog({ logger, metrics: createMetrics() }, logged);
  const request = { method: 'POST', socket: {} } as IncomingMessage;
  const response = new ServerResponse(request);
  response.statusCode = status;
  const exchange = new Exchange(request, response, {
    nextId: () => 'id',
    toAddress: () => '',
    codings: createContentCodings(),
    pacer: createPacer(),
  });
  record(Object.assign(exchange, facts));
  expect(lines).toHaveLength(1);
  return (JSON.parse(lines[0] as string) as { level: string }).level;
}
const rpc = { route: 'rpc' };

it.each<[string, number, Partial<Exchange>, string, string]>([
  ['went well', 200, rpc, 'info', 'debug'],
  ['is a probe that went well', 200, { route: 'readyz' }, 'debug', 'debug'],
  ['is a probe that was refused', 404, { route: 'readyz' }, 'info', 'info'],
  ['was refused', 401, { ...rpc, refusal: 'unauthenticated' }, 'info', 'info'],
  ['was refused with 200', 200, { ...rpc, refusal: 'params-invalid' }, 'info', 'info'],
  ['went too fast', 429, { ...rpc, refusal: 'rate-limited' }, 'debug', 'debug'],
  ['went too fast, and got 200 for it', 200, { ...rpc, refusal: 'rate-limited' }, 'debug', 'debug'],
  ['is a fault of ours', 500, { ...rpc, refusal: 'internal' }, 'error', 'error'],
  ['is a fault of ours with 200', 200, { ...rpc, refusal: 'internal' }, 'error', 'error'],
])('a request that %s has its line at the level for it', (_, status, facts, all, refused) => {
  expect(getLevel(status, facts)).toBe(all);
  expect(getLevel(status, facts, 'refused')).toBe(refused);
});
