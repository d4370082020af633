import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { run } from '../testing/run.js';

const KEY = `ph_12345678_${'k'.repeat(43)}`;
const cursor = 'AQ_-';
let server: Server;
let asked: string[];
let answers: { status: number; body: string }[];
let url: string;
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { status, body } = answers.shift() ?? { status: 403, body: '{"detail":"The key was revoked."}' };
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ethereum`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const feed = (...args: string[]) =>
  run(['feed', url, '--kinds', 'logs,blocks', ...args], { env: { PACKHOUSE_API_KEY: KEY } });
const step = (block: number) => ({
  step: 'waiting',
  block,
  reason: 'not-produced',
  detail: 'It is not there yet.',
  kinds: ['logs'],
  cursor: `${cursor}${block}`,
});

it('prints each step, and continues behind the last one until it is stopped', async () => {
  const steps = [step(5), step(6), step(7)];
  answers = [
    { status: 200, body: `${JSON.stringify(steps[0])}\n${JSON.stringify(steps[1])}\n` },
    { status: 200, body: `${JSON.stringify(steps[2])}\n` },
  ];
  const { code, out, err } = await feed('--from', '5', '--final');
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(steps);
  expect([code, err]).toEqual([69, expect.stringContaining('The key was revoked')]);
  const queries = asked.map((path) => Object.fromEntries(new URL(path, url).searchParams));
  expect(queries).toMatchObject([
    { kinds: 'blocks,logs', from: '5', final: 'only' },
    { kinds: 'blocks,logs', cursor: `${cursor}6`, final: 'only' },
    { cursor: `${cursor}7` },
  ]);
});

it('names a cursor that is refused, and a line that is no step', async () => {
  answers = [
    { status: 400, body: '{"reason":"cursor-foreign","detail":"The cursor is of another network."}' },
  ];
  expect(await feed('--cursor', cursor)).toMatchObject({
    code: 64,
    err: expect.stringMatching(/The cursor is of another network.*CURSOR_FOREIGN/),
  });
  answers = [{ status: 200, body: '{"step":"jump"}\n' }];
  expect(await feed()).toMatchObject({
    code: 2,
    err: expect.stringMatching(/Line 1 of the feed is not a known step: "jump"/),
  });
  answers = [];
  expect(await feed('--from', '1', '--cursor', cursor)).toMatchObject({
    code: 64,
    err: expect.stringContaining('--from and --cursor exclude each other'),
  });
});
