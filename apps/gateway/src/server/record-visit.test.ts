import { type IncomingMessage, ServerResponse } from 'node:http';
import { createLogger, createMetrics } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createVisitRecorder, type LoggedRequests } from './record-visit.js';
import { beginVisit, type Visit } from './visit.js';

/** The level that a visit is logged at. */
function levelOf(status: number, visit: Partial<Visit>, logged?: LoggedRequests): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ name: 'test', level: 'trace', destination });
  const record = createVisitRecorder({ logger, metrics: createMetrics() }, logged);
  const response = new ServerResponse({ method: 'POST', socket: {} } as IncomingMessage);
  response.statusCode = status;
  record({ ...beginVisit(), ...visit }, response, () => 'id');
  expect(lines).toHaveLength(1);
  return (JSON.parse(lines[0] as string) as { level: string }).level;
}
const rpc = { route: 'rpc' };

it.each<[string, number, Partial<Visit>, string, string]>([
  ['went well', 200, rpc, 'info', 'debug'],
  ['is a probe that went well', 200, { route: 'readyz' }, 'debug', 'debug'],
  ['is a probe that was refused', 404, { route: 'readyz' }, 'info', 'info'],
  ['was refused', 401, { ...rpc, refusal: 'unauthenticated' }, 'info', 'info'],
  ['was refused with 200', 200, { ...rpc, refusal: 'params-invalid' }, 'info', 'info'],
  ['went too fast', 429, { ...rpc, refusal: 'rate-limited' }, 'debug', 'debug'],
  ['went too fast, and got 200 for it', 200, { ...rpc, refusal: 'rate-limited' }, 'debug', 'debug'],
  ['is a fault of ours', 500, { ...rpc, refusal: 'internal' }, 'error', 'error'],
  ['is a fault of ours with 200', 200, { ...rpc, refusal: 'internal' }, 'error', 'error'],
])('a request that %s has its line at the level for it', (_, status, visit, all, refused) => {
  expect(levelOf(status, visit)).toBe(all);
  expect(levelOf(status, visit, 'refused')).toBe(refused);
});
