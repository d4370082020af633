import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@packhouse/local';
import { outputOf, startChild, startNode } from './child.js';
import { findProgram } from './find-program.js';

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
  seconds: number;
}

/** The result. */
export interface LoadReport {
  requestsPerSecond: number;
  bytesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers other than 200 and broken connections. */
  errors: number;
}

/** The name of the load generator. */
export async function loadGenerator(): Promise<'wrk' | 'an own generator'> {
  return (await findProgram('wrk')) === null ? 'an own generator' : 'wrk';
}

/** Puts load on a server from another process: with wrk if it is installed. */
export async function load(scope: Scope, directory: string, request: LoadRequest): Promise<LoadReport> {
  const wrk = await findProgram('wrk');
  if (wrk === null) {
    const child = startNode(scope, 'test/bench/dist/send-requests.js', [JSON.stringify(request)]);
    return JSON.parse(await outputOf(child, 'the load generator')) as LoadReport;
  }
  const script = path.join(directory, 'load.lua');
  await writeFile(script, luaScript(request));
  const child = startChild(scope, wrk, [
    ...['-t1', `-c${request.connections}`, `-d${request.seconds}s`, '--timeout', '30s'],
    ...['-s', script, request.url],
  ]);
  return reportOf(await outputOf(child, 'wrk'));
}

/** The last line is what the script's `done` prints. */
function reportOf(output: string): LoadReport {
  const line = output.trim().split('\n').at(-1) ?? '';
  return JSON.parse(line) as LoadReport;
}

/** Number of requests built before the first is sent: building one costs wrk as much as sending it. */
const PREPARED = 50_000;

/** A script that sends prepared requests in random order and reports as JSON. */
export function luaScript({ paths, below, headers, body }: LoadRequest): string {
  const typed = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const head = Object.entries(typed).map(
    ([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`,
  );
  const partsOf = (text: string): string => `{${text.split('{n}').map(quoted).join(', ')}}`;
  return `
${head.join('\n')}
local paths = {${paths.map(partsOf).join(', ')}}
local body = ${body === undefined ? 'nil' : partsOf(body)}
local made = {}
function init(args)
  math.randomseed(os.time())
  for i = 1, ${PREPARED} do
    local parts = paths[(i - 1) % #paths + 1]
    local n = string.format("%d", math.random(0, ${below - 1}))
    made[i] = wrk.format(body and "POST" or "GET", table.concat(parts, n), nil, body and table.concat(body, n))
  end
end
function request()
  return made[math.random(#made)]
end
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
