import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@packhouse/local';
import { getOutput, startNode } from '@packhouse/rig';
import { runChild } from './child.js';
import { findProgram } from './find-program.js';
import { cpuOfTree } from './processes.js';

/** Requests that are sent as fast as they are answered, on `connections` connections. */
export interface LoadRequest {
  /** No slash at the end. */
  url: string;
  /** Paths; each `{n}` is replaced by a random whole number below `below`. Taken in random order. */
  paths: readonly string[];
  below: number;
  headers: Readonly<Record<string, string>>;
  /** Sent with POST, as JSON; `{n}` as in `paths`. Absent: GET. */
  body?: string;
  connections: number;
  /** How long each connection waits before a request, on average, in milliseconds. Absent: not at all. */
  pauseMs?: number;
  seconds: number;
}

/** Throws if requests were not answered as they should be. */
export function failOnErrors(reports: readonly LoadReport[]): void {
  const errors = reports.reduce((sum, report) => sum + report.errors, 0);
  if (errors > 0) throw new Error(`${errors} requests were answered neither with 200 nor with 302`);
}

/** The result. */
export interface LoadReport {
  requestsPerSecond: number;
  bytesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers other than 200, or 302, and broken connections. */
  errors: number;
  /** CPU of all processes of the server for a request, in microseconds; absent without /proc, and unless `server` was given. */
  cpuMicros?: number;
}

/** The name of the load generator. */
export async function loadGenerator(): Promise<'wrk' | 'an own generator'> {
  return (await findProgram('wrk')) === null ? 'an own generator' : 'wrk';
}

/**
 * Puts load on a server from another process: with wrk if it is installed. `server` is the number of the process whose CPU is counted,
 * with those below it.
 */
export async function load(
  scope: Scope,
  directory: string,
  request: LoadRequest,
  server?: number,
): Promise<LoadReport> {
  const cpuSeconds = (): number => (server === undefined ? 0 : cpuOfTree(server));
  const before = cpuSeconds();
  const report = await putLoad(scope, directory, request);
  const used = cpuSeconds() - before;
  return used > 0
    ? { ...report, cpuMicros: (used * 1e6) / (report.requestsPerSecond * request.seconds) }
    : report;
}

async function putLoad(scope: Scope, directory: string, request: LoadRequest): Promise<LoadReport> {
  const wrk = await findProgram('wrk');
  if (wrk === null) {
    const program = startNode(scope, 'test/bench/dist/send-requests.js', [JSON.stringify(request)]);
    return JSON.parse(await getOutput(program)) as LoadReport;
  }
  const script = path.join(directory, 'load.lua');
  await writeFile(script, luaScript(request));
  const size = ['-t1', `-c${request.connections}`, `-d${request.seconds}s`];
  const output = await runChild(scope, wrk, [...size, '--timeout', '30s', '-s', script, request.url]);
  // The last line is what the script's `done` prints.
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as LoadReport;
}

/** Number of requests built before the first is sent: building one costs wrk as much as sending it. */
const PREPARED = 50_000;
/** Bytes of them together, which wrk keeps as texts. */
const PREPARED_BYTES = 50_000_000;

/** A script that sends prepared requests in random order and reports as JSON. */
export function luaScript({ paths, below, headers, body, pauseMs }: LoadRequest): string {
  const typed = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const head = Object.entries(typed).map(
    ([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`,
  );
  const prepared = Math.min(PREPARED, Math.ceil(PREPARED_BYTES / (body?.length ?? 1)));
  const getParts = (text: string): string => `{${text.split('{n}').map(quoted).join(', ')}}`;
  return `
${head.join('\n')}
local paths = {${paths.map(getParts).join(', ')}}
local body = ${body === undefined ? 'nil' : getParts(body)}
local made = {}
function init(args)
  math.randomseed(os.time())
  for i = 1, ${prepared} do
    local parts = paths[(i - 1) % #paths + 1]
    local n = string.format("%d", math.random(0, ${below - 1}))
    made[i] = wrk.format(body and "POST" or "GET", table.concat(parts, n), nil, body and table.concat(body, n))
  end
end
function request()
  return made[math.random(#made)]
end
${pauseMs === undefined ? '' : `function delay() return math.floor(${pauseMs} + math.random()) end`}
function done(summary, latency)
  local errors = summary.errors
  local seconds = summary.duration / 1e6
  print(string.format('{"requestsPerSecond":%.1f,"bytesPerSecond":%.0f,"p50Ms":%.3f,"p99Ms":%.3f,"errors":%d}',
    summary.requests / seconds, summary.bytes / seconds, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`;
}

/** Lua can read JSON strings without control characters. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
