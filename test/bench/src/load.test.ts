import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createScope } from '@packhouse/local';
import { getOutput, startNode } from '@packhouse/rig';
import { expect, it } from 'vitest';
import { findProgram } from './find-program.js';
import { type LoadReport, type LoadRequest, load, luaScript } from './load.js';

/** Answers /n/<0 to 9> with a key, and anything else with 404. */
async function serve(): Promise<{ url: string; seen: Set<string>; close(): Promise<void> }> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const good = /^\/n\/\d$/.test(request.url ?? '') && request.headers['x-key'] === 'k';
    seen.add(request.url ?? '');
    response.statusCode = good ? 200 : 404;
    response.setHeader('content-length', 100_000);
    response.end('x'.repeat(100_000));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const requestTo = (url: string, target: string): LoadRequest => ({
  url,
  paths: [target],
  below: 10,
  headers: { 'x-key': 'k' },
  connections: 4,
  seconds: 1,
});

function expectGood(report: LoadReport): void {
  expect(report.errors).toBe(0);
  expect(report.requestsPerSecond).toBeGreaterThan(0);
  expect(report.bytesPerSecond).toBeGreaterThan(100_000 * report.requestsPerSecond * 0.9);
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);
}

it('the own generator sends random numbers and headers, and counts what came back', async () => {
  const scope = createScope();
  const server = await serve();
  scope.defer(() => server.close());
  try {
    const run = async (target: string): Promise<LoadReport> => {
      const args = [JSON.stringify(requestTo(server.url, target))];
      const child = startNode(scope, 'test/bench/dist/send-requests.js', args);
      return JSON.parse(await getOutput(child)) as LoadReport;
    };
    expectGood(await run('/n/{n}'));
    expect(server.seen.size).toBeGreaterThan(5);
    expect((await run('/other')).errors).toBeGreaterThan(0);
  } finally {
    await scope.close();
  }
});

const wrk = await findProgram('wrk');

it.skipIf(wrk === null)('wrk does the same (needs wrk)', async () => {
  const scope = createScope();
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-load-'));
  scope.defer(() => rm(directory, { recursive: true }));
  const server = await serve();
  scope.defer(() => server.close());
  try {
    expectGood(await load(scope, directory, requestTo(server.url, '/n/{n}')));
    expect(server.seen.size).toBeGreaterThan(5);
    expect((await load(scope, directory, requestTo(server.url, '/other'))).errors).toBeGreaterThan(0);
  } finally {
    await scope.close();
  }
});

it('writes texts into the script so that they stay texts', () => {
  const script = luaScript({ ...requestTo('http://h', '/a"b/{n}/c'), headers: { 'x-"y': 'z\\' } });
  expect(script).toContain('local paths = {{"/a\\"b/", "/c"}}');
  expect(script).toContain('wrk.headers["x-\\"y"] = "z\\\\"');
  expect(script).not.toContain('delay');
  const pausing = luaScript({ ...requestTo('http://h', '/'), pauseMs: 3.2 });
  expect(pausing).toContain('function delay() return math.floor(3.2 + math.random()) end');
});
